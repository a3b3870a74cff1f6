/** The slots of a log as verification reads them: every name that is listed, whatever is there. */
import type { BlobStore } from '../blob/index.ts';
import { type Sequence, sequence } from './base/sequence.ts';
import { LOG_PREFIX, parseSlotKey, slotKey } from './log/names.ts';
import { integrityProblem, type Problems } from './log/problems.ts';

/** A slot's name, read: its bytes, or none because it is absent or because of a problem. */
export interface ReadName {
  readonly name: Sequence;
  readonly bytes: Uint8Array | null;
  readonly problem: string | null;
}

/** A name at which no slot is, while later ones are there. */
export interface Hole {
  readonly name: Sequence;
  readonly problem: string;
}

const LIST_LIMIT = 1000;

export class SlotNames {
  /** Names of an earlier life, listed so far. */
  earlier = 0;
  readonly #bucket: BlobStore;
  readonly #signal: AbortSignal | undefined;

  constructor(bucket: BlobStore, signal: AbortSignal | undefined) {
    this.#bucket = bucket;
    this.#signal = signal;
  }

  /** Names from the start on, ascending; what else lies under `log/` is noted. */
  async *names(start: Sequence, problems: Problems): AsyncGenerator<Sequence> {
    let after: string | undefined;
    for (;;) {
      const query = { prefix: LOG_PREFIX, after, limit: LIST_LIMIT };
      const page = await this.#bucket.list(query, { signal: this.#signal, lane: 'bulk' });
      for (const { key } of page.objects) {
        const name = parseSlotKey(key);
        if (name === null) problems.note(key, 'is no slot name; nothing else belongs under log/');
        else if (name < start) this.earlier++;
        else yield name;
      }
      after = page.objects.at(-1)?.key;
      if (!page.more || after === undefined) return;
    }
  }

  /** One `get`. What is damaged is a problem; anything else is thrown. */
  async read(name: Sequence): Promise<ReadName> {
    try {
      const options = { signal: this.#signal, lane: 'bulk' } as const;
      const found = await this.#bucket.get(slotKey(name), options);
      return { name, bytes: found.found ? found.bytes : null, problem: null };
    } catch (error) {
      return { name, bytes: null, problem: integrityProblem(error, slotKey(name)).problem };
    }
  }
}

/**
 * Notes what the log lacks: slots may be missing below the floor only.
 * @param first where the row of slots begins that has no gap
 */
export function noteLost(
  problems: Problems,
  holes: readonly Hole[],
  floor: number,
  first: number,
): void {
  for (const { name, problem } of holes) {
    if (name >= floor) problems.note(slotKey(name), problem);
  }
  // The row may begin behind a slot that is named already.
  const told = problems.named.map(({ object }) => parseSlotKey(object) ?? first);
  if (first <= floor || told.some((at) => at < first)) return;
  const words = `the log is kept from ${floor} on, and lacks slots before ${first}`;
  problems.note(slotKey(sequence(floor)), words);
}
