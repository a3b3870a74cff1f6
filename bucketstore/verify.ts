/**
 * Verification: everything that a world says is read anew and held against everything else. Nothing
 * of an opened world is used, no cache and no earlier answer.
 */
import { type BlobStore, openBucket } from '../blob/index.ts';
import { StoreError } from './base/errors.ts';
import { createLimit } from './base/limit.ts';
import { readAhead } from './base/read-ahead.ts';
import { type Sequence, sequence } from './base/sequence.ts';
import { assertEmpty, assertEmptyStart, type ReadMarker, readMarker } from './genesis.ts';
import { bucketFailure } from './log/failure.ts';
import { blobKey, LOG_PREFIX, MARKER_KEY, parseSlotKey, slotKey } from './log/names.ts';
import { integrityProblem, NAMED_MAX, Problems } from './log/problems.ts';
import { type DecodedSlot, decodeSlot } from './log/slot.ts';
import { readComponents, readSettings } from './options.ts';
import { applySlot } from './snapshot/apply.ts';
import { Snapshot } from './snapshot/snapshot.ts';
import type { VerifyOptions, VerifyReport } from './verify-report.ts';
import {
  type DescribedVersion,
  sizeProblem,
  slotVersionProblems,
  stagedVersions,
  versionProblem,
} from './verify-rules.ts';

export type { Problem } from './log/problems.ts';
export type { VerifyCounts, VerifyOptions, VerifyReport } from './verify-report.ts';

/** A slot's name, read: its bytes, or none because it is absent or because of a problem. */
interface ReadName {
  readonly name: Sequence;
  readonly bytes: Uint8Array | null;
  readonly problem: string | null;
}

const READ_AHEAD = 16;
const LIST_LIMIT = 1000;

/**
 * Reads a world from its marker to its tip and says what is wrong with it. One `get` for the marker
 * and each slot, one list for a thousand slots, and a `head` for each retained version in a blob,
 * or a `get` when `deep`. Memory: the state of the world, and a few slots.
 * @throws StoreError `NOT_FOUND` when no world is there; `LOCATION`, `UNAVAILABLE`,
 *   `UNSUPPORTED_FORMAT`. What is wrong with the world itself is not thrown
 */
export async function verifyWorld(
  location: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const { clock, random, observer, bucket: given } = readComponents(options.components);
  const { readLane, bulkLane } = readSettings(options.settings);
  const lanes = {
    commit: createLimit(1),
    read: createLimit(readLane),
    bulk: createLimit(bulkLane),
  };
  const parts = { timing: clock, chance: random, lanes, observer };
  const bucket = given ?? (await openBucket(location, parts));
  try {
    const verifier = new Verifier(bucket, options);
    const marker = await verifier.marker({ bucket, clock, random, signal: options.signal });
    if (marker !== null) await verifier.world(marker);
    return verifier.report();
  } catch (error) {
    throw bucketFailure(error);
  } finally {
    if (given === undefined) await bucket.close();
  }
}

class Verifier {
  readonly #bucket: BlobStore;
  readonly #options: VerifyOptions;
  readonly #counts = { slots: 0, entries: 0, inlined: 0, blobs: 0 };
  readonly #problems = new Problems();
  readonly #strays: string[] = [];
  #earlier = 0;
  #snapshot: Snapshot | null = null;
  /** The chain ends early: what follows is only looked at by itself. */
  #broken = false;

  constructor(bucket: BlobStore, options: VerifyOptions) {
    this.#bucket = bucket;
    this.#options = options;
  }

  /** The marker; null when it is damaged, which is then noted. */
  async marker(parts: Parameters<typeof assertEmpty>[0]): Promise<ReadMarker | null> {
    try {
      const found = await readMarker(parts);
      if (found === null) {
        await assertEmpty(parts);
        throw new StoreError('NOT_FOUND', `no world is at ${this.#bucket.name}`);
      }
      return found;
    } catch (error) {
      this.#problems.noteIntegrity(error, MARKER_KEY);
      return null;
    }
  }

  async world({ marker, hash }: ReadMarker): Promise<void> {
    assertEmptyStart(marker);
    this.#snapshot = Snapshot.atStart(marker, hash);
    const start = this.#next();
    for await (const read of readAhead(this.#names(start), READ_AHEAD, (name) => this.#get(name))) {
      await this.#slot(read);
    }
    await this.#beyondTheList();
    await this.#blobs();
  }

  report(): VerifyReport {
    const snapshot = this.#snapshot;
    return {
      worldId: snapshot?.identity.worldId ?? null,
      incarnationId: snapshot?.identity.incarnationId ?? null,
      sequence: snapshot?.tip.sequence ?? 0,
      documents: snapshot?.documentCount ?? 0,
      deep: this.#options.deep ?? false,
      ...this.#counts,
      earlier: this.#earlier,
      strays: this.#strays,
      problems: this.#problems.named,
      problemCount: this.#problems.count,
    };
  }

  /** Names of slots from the start on; what else lies under `log/` is noted. */
  async *#names(start: Sequence): AsyncGenerator<Sequence> {
    const { signal } = this.#options;
    let after: string | undefined;
    for (;;) {
      const query = { prefix: LOG_PREFIX, after, limit: LIST_LIMIT };
      const page = await this.#bucket.list(query, { signal, lane: 'bulk' });
      for (const { key } of page.objects) {
        const name = parseSlotKey(key);
        if (name === null)
          this.#problems.note(key, 'is no slot name; nothing else belongs under log/');
        else if (name < start) this.#earlier++;
        else yield name;
      }
      after = page.objects.at(-1)?.key;
      if (!page.more || after === undefined) return;
    }
  }

  async #get(name: Sequence): Promise<ReadName> {
    const { signal } = this.#options;
    try {
      const found = await this.#bucket.get(slotKey(name), { signal, lane: 'bulk' });
      return { name, bytes: found.found ? found.bytes : null, problem: null };
    } catch (error) {
      return { name, bytes: null, problem: integrityProblem(error, slotKey(name)).problem };
    }
  }

  /** One listed slot: by itself, and as the next of the chain. */
  async #slot({ name, bytes, problem }: ReadName): Promise<void> {
    if (bytes === null && problem === null) {
      return this.#problems.note(slotKey(name), 'was listed, and is gone');
    }
    while (!this.#broken && this.#next() < name) await this.#missed(name);
    if (!this.#broken && name < this.#next()) {
      if (this.#strays.length < NAMED_MAX) this.#strays.push(slotKey(name));
      return;
    }
    if (bytes === null) this.#break(name, problem);
    else this.#take(name, bytes);
  }

  /** A name that the list lacks is read directly, so a hole in a list is never one in the log. */
  async #missed(later: Sequence): Promise<void> {
    const { name, bytes, problem } = await this.#get(this.#next());
    if (bytes !== null) return this.#take(name, bytes);
    this.#break(
      name,
      problem ?? `missing, while ${slotKey(later)} is there; nothing after it holds`,
    );
  }

  /** What was committed while the list was read. */
  async #beyondTheList(): Promise<void> {
    while (!this.#broken) {
      const { name, bytes, problem } = await this.#get(this.#next());
      if (bytes !== null) this.#take(name, bytes);
      else if (problem === null) return;
      else this.#break(name, problem);
    }
  }

  /** The chain cannot be followed beyond a name. */
  #break(name: Sequence, problem: string | null): void {
    if (problem !== null) this.#problems.note(slotKey(name), problem);
    this.#broken = true;
  }

  #take(name: Sequence, bytes: Uint8Array): void {
    this.#options.signal?.throwIfAborted();
    const key = slotKey(name);
    try {
      const decoded = decodeSlot(key, bytes);
      if (!this.#broken) this.#follow(decoded, bytes);
      this.#counts.slots++;
      this.#counts.entries += decoded.slot.entries.length;
      this.#counts.inlined += decoded.slot.inlined.length;
      this.#options.onProgress?.(this.#counts);
    } catch (error) {
      this.#problems.noteIntegrity(error, key);
      this.#broken = true;
    }
  }

  #follow({ slot, hash }: DecodedSlot, bytes: Uint8Array): void {
    const before = this.#state();
    this.#snapshot = applySlot(before, slot, hash);
    for (const { object, problem } of slotVersionProblems(before, slot, bytes)) {
      this.#problems.note(object, problem);
    }
  }

  async #blobs(): Promise<void> {
    const staged = stagedVersions(this.#state());
    const checks = readAhead(staged, READ_AHEAD, async (version) => {
      const key = blobKey(version.epoch, version.record.storedHash);
      return { key, problem: await this.#blobProblem(key, version) };
    });
    for await (const { key, problem } of checks) {
      this.#options.signal?.throwIfAborted();
      if (problem !== null) this.#problems.note(key, problem);
      this.#counts.blobs++;
      this.#options.onProgress?.(this.#counts);
    }
  }

  async #blobProblem(key: string, version: DescribedVersion): Promise<string | null> {
    const { signal, deep } = this.#options;
    const where = `${version.path} version ${version.record.version}`;
    try {
      if (deep === true) {
        const found = await this.#bucket.get(key, { signal, lane: 'bulk' });
        if (found.found) return versionProblem(version, found.bytes);
      } else {
        const found = await this.#bucket.head(key, { signal, lane: 'bulk' });
        if (found.found) return sizeProblem(found.attributes.size);
      }
      return `missing, and ${where} is in it`;
    } catch (error) {
      return integrityProblem(error, key).problem;
    }
  }

  #state(): Snapshot {
    if (this.#snapshot === null) throw new TypeError('no marker has been read');
    return this.#snapshot;
  }

  #next(): Sequence {
    return sequence(this.#state().tip.sequence + 1);
  }
}
