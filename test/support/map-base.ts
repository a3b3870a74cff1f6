/**
 * The documents of a state as a checkpoint would hold them, in plain maps: what stands for runs and
 * segments where a test is about the state above them.
 */
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import type { BaseState, PlacedDocument } from '../../bucketstore/snapshot/base.ts';
import { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import type {
  DocumentDetails,
  DocumentHead,
  VersionRecord,
} from '../../bucketstore/snapshot/state.ts';

interface Held extends DocumentHead {
  readonly details: DocumentDetails;
  /** Newest first. */
  readonly versions: readonly VersionRecord[];
}

/** The same state, with all its documents in its checkpoint, and none since. */
export function atCheckpoint(state: Snapshot): Snapshot {
  return Snapshot.atBase(state.identity, MapBase.of(state), state.tip, state.control);
}

class MapBase implements BaseState {
  readonly #held: ReadonlyMap<string, Held>;
  readonly #paths: readonly string[];
  /** Details and versions that were asked for. */
  reads = 0;

  readonly sequence: number;

  private constructor(sequence: number, held: ReadonlyMap<string, Held>) {
    this.sequence = sequence;
    this.#held = held;
    this.#paths = [...held.keys()].sort(compareUtf8);
  }

  static of(state: Snapshot): MapBase {
    const before = state.base instanceof MapBase ? state.base.#held : new Map<string, Held>();
    const held = new Map(before);
    for (const [path, { at: _, details, ...head }] of state.changed()) {
      const known = before.get(path);
      const all = details ?? known?.details;
      if (all === undefined) throw new Error(`${path}: its details lie in a base of another kind`);
      const versions = [...state.changedVersions(path), ...(known?.versions ?? [])];
      const retained = versions.filter((record) => record.version >= head.first);
      held.set(path, { ...head, details: all, versions: retained });
    }
    return new MapBase(state.tip.sequence, held);
  }

  /** No slot is needed for a body: tests that want one hand it in. */
  readonly packedThrough: number = Number.MAX_SAFE_INTEGER;

  get documents(): number {
    return this.#paths.length;
  }

  head(path: string): DocumentHead | undefined {
    return this.#held.get(path);
  }

  *from(path: string): Generator<PlacedDocument> {
    for (let i = this.#placeOf(path); i < this.#paths.length; i++) {
      const at = this.#paths[i] ?? '';
      yield { path: at, archived: this.#held.get(at)?.archived ?? false };
    }
  }

  *livePaths(bodyHash: string): Generator<string> {
    for (const path of this.#paths) {
      const held = this.#held.get(path);
      if (held?.bodyHash === bodyHash && !held.archived) yield path;
    }
  }

  async details(path: string): Promise<DocumentDetails> {
    this.reads += 1;
    return this.#get(path).details;
  }

  async versions(path: string): Promise<readonly VersionRecord[]> {
    this.reads += 1;
    return this.#get(path).versions;
  }

  #get(path: string): Held {
    const held = this.#held.get(path);
    if (held === undefined) throw new Error(`${path} is not in the checkpoint`);
    return held;
  }

  #placeOf(path: string): number {
    let [low, high] = [0, this.#paths.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareUtf8(this.#paths[middle] ?? '', path) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
