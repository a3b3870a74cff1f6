/**
 * Verification: everything that a world says is read anew and held against everything else. Nothing
 * of an opened world is used, no cache and no earlier answer.
 */
import type { BlobStore } from '../blob/index.ts';
import { CheckpointLoader } from '../checkpoint/load.ts';
import { CheckpointVerifier } from '../checkpoint/verify.ts';
import { decodeOldHistory } from '../migrate/schema1-versions.ts';
import type { Clock } from './base/clock.ts';
import { integrityError, StoreError } from './base/errors.ts';
import { readAhead } from './base/read-ahead.ts';
import { type Sequence, sequence } from './base/sequence.ts';
import { assertEmpty, type GenesisParts, type ReadMarker, readMarker } from './genesis.ts';
import { Checkpoints } from './log/checkpoints.ts';
import { Log } from './log/log.ts';
import { MARKER_KEY, slotKey } from './log/names.ts';
import { integrityProblem, NAMED_MAX, Problems } from './log/problems.ts';
import { Sightings } from './log/sightings.ts';
import { type DecodedSlot, decodeSlot } from './log/slot.ts';
import { checkBodies } from './verify-bodies.ts';
import type { VerifyCounts, VerifyOptions, VerifyReport } from './verify-report.ts';
import { RestedSlots } from './verify-rest.ts';
import { slotVersionProblems } from './verify-rules.ts';
import { type Hole, noteLost, type ReadName, SlotNames } from './verify-slots.ts';
import { withBucket } from './with-bucket.ts';

export type { Problem } from './log/problems.ts';
export type {
  VerifyCounts,
  VerifyOptions,
  VerifyReport,
} from './verify-report.ts';

const READ_AHEAD = 16;

/**
 * Reads a world from its marker to its tip, and its checkpoints beside it, and says what is wrong.
 * One `get` for the marker and each slot (two for those behind the newest checkpoint), one list for
 * a thousand slots, and a `head` for each retained version in a blob, or a `get` when `deep`. Of
 * checkpoints one `get` for each record, two for each root, one or two for each pack, and for each
 * run its manifest, tables and history blocks; one list for a thousand objects.
 * Memory: the state of the world, a few slots, one table, the packs of one unit, and the names of
 * derived objects.
 * @throws StoreError `NOT_FOUND` when no world is there; `LOCATION`, `UNAVAILABLE`,
 *   `UNSUPPORTED_FORMAT`. What is wrong with the world itself is not thrown
 */
export async function verifyWorld(
  location: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  return withBucket(location, options, async (bucket, { clock, random }) => {
    const { signal } = options;
    const verifier = new Verifier(bucket, clock, options);
    const marker = await verifier.marker({ bucket, clock, random, signal });
    if (marker !== null) await verifier.world(marker);
    return verifier.report();
  });
}

class Verifier {
  readonly #bucket: BlobStore;
  readonly #clock: Clock;
  readonly #options: VerifyOptions;
  readonly #slots: SlotNames;
  readonly #counts = { slots: 0, entries: 0, inlined: 0, blobs: 0, packed: 0 };
  readonly #problems = new Problems();
  readonly #strays: string[] = [];
  readonly #holes: Hole[] = [];
  #marker: ReadMarker | null = null;
  #checkpoints: CheckpointVerifier | null = null;
  #loader: CheckpointLoader | null = null;
  /** Slots before the checkpoint that the replay went on from. */
  #rest: RestedSlots | null = null;
  /** The chain ends early: what follows is only looked at by itself. */
  #broken = false;
  #derived: VerifyReport['derived'] = null;

  constructor(bucket: BlobStore, clock: Clock, options: VerifyOptions) {
    this.#bucket = bucket;
    this.#clock = clock;
    this.#options = options;
    this.#slots = new SlotNames(bucket, options.signal);
  }

  /** The marker; null when it is damaged, which is then noted. */
  async marker(parts: GenesisParts): Promise<ReadMarker | null> {
    try {
      const found = await readMarker(parts);
      if (found === null) {
        await assertEmpty(parts);
        throw new StoreError('NOT_FOUND', `no world is at ${this.#bucket.name}`);
      }
      this.#marker = found;
      return found;
    } catch (error) {
      this.#problems.noteIntegrity(error, MARKER_KEY);
      return null;
    }
  }

  async world(found: ReadMarker): Promise<void> {
    const checkpoints = this.#open(found);
    try {
      await checkpoints.begin();
    } catch (error) {
      // What a life started with cannot be had: nothing follows it.
      return this.#problems.noteIntegrity(error, MARKER_KEY);
    }
    this.#checkpoints = checkpoints;
    const start = this.#next();
    const names = this.#slots.names(start, this.#problems);
    for await (const read of readAhead(names, READ_AHEAD, (name) => this.#slots.read(name))) {
      await this.#slot(read);
    }
    await this.#beyondTheList();
    await checkpoints.end(this.#broken);
    const floor = Math.max(this.#verifier().state.control.floor.at, start);
    noteLost(this.#problems, this.#holes, floor, this.#rest?.first ?? start);
    await this.#bodies();
    this.#derived = await checkpoints.derived();
  }

  report(): VerifyReport {
    const state = this.#checkpoints?.state;
    const found = this.#checkpoints?.found;
    return {
      worldId: this.#marker?.marker.worldId ?? null,
      incarnationId: this.#marker?.marker.incarnationId ?? null,
      sequence: state?.tip.sequence ?? 0,
      documents: state?.documentCount ?? 0,
      deep: this.#options.deep ?? false,
      ...this.#done(),
      earlier: this.#slots.earlier,
      strays: this.#strays,
      dead: { checkpoints: found?.dead ?? 0, earlier: found?.earlier ?? 0 },
      derived: this.#derived,
      problems: this.#problems.named,
      problemCount: this.#problems.count,
    };
  }

  #open({ marker, hash: markerHash }: ReadMarker): CheckpointVerifier {
    const [bucket, clock, problems] = [this.#bucket, this.#clock, this.#problems];
    const sightings = new Sightings({ clock, checkpoints: new Checkpoints(bucket) });
    const log = new Log(bucket, () => sightings.moment());
    const loader = new CheckpointLoader({ bucket, start: marker.start, decodeOldHistory });
    this.#loader = loader;
    const { signal } = this.#options;
    const onObject = (): void => this.#options.onProgress?.(this.#done());
    const world = { bucket, log, loader, marker, markerHash, decodeOldHistory };
    return new CheckpointVerifier({ ...world, problems, signal, onObject });
  }

  #done(): VerifyCounts {
    const checkpoints = this.#checkpoints;
    return {
      ...this.#counts,
      checkpoints: checkpoints?.checked ?? 0,
      objects: checkpoints?.objects.read ?? 0,
    };
  }

  /** One listed slot: by itself, and as the next of the chain. */
  async #slot({ name, bytes, problem }: ReadName): Promise<void> {
    if (bytes === null && problem === null) {
      return this.#problems.note(slotKey(name), 'was listed, and is gone');
    }
    while (!this.#broken && this.#next() < name) await this.#missed(name);
    if (this.#rest !== null && name <= this.#rest.through) {
      return this.#before(this.#rest, name, bytes, problem);
    }
    if (!this.#broken && name < this.#next()) return this.#stray(name);
    if (bytes === null) await this.#break(name, problem);
    else await this.#take(name, bytes);
  }

  /** A name that the list lacks is read directly, so a hole in a list is never one in the log. */
  async #missed(later: Sequence): Promise<void> {
    const { name, bytes, problem } = await this.#slots.read(this.#next());
    if (bytes !== null) return this.#take(name, bytes);
    if (problem !== null) return this.#break(name, problem);
    const words = `missing, while ${slotKey(later)} is there`;
    if (await this.#restBehind(name)) this.#holes.push({ name, problem: words });
    else await this.#break(name, `${words}; nothing after it holds`);
  }

  /** What was committed while the list was read. */
  async #beyondTheList(): Promise<void> {
    while (!this.#broken) {
      const { name, bytes, problem } = await this.#slots.read(this.#next());
      if (bytes !== null) await this.#take(name, bytes);
      else if (problem === null) return;
      else await this.#break(name, problem);
    }
  }

  /** The chain cannot be followed over a name; a checkpoint behind it is as good. */
  async #break(name: Sequence, problem: string | null): Promise<void> {
    if (problem !== null) this.#problems.note(slotKey(name), problem);
    if (!(await this.#restBehind(name))) this.#broken = true;
  }

  async #restBehind(name: Sequence): Promise<boolean> {
    const record = this.#broken ? null : await this.#verifier().restBehind(name);
    if (record === null) return false;
    this.#rest = new RestedSlots(record, name, this.#problems, this.#verifier());
    return true;
  }

  async #take(name: Sequence, bytes: Uint8Array): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const key = slotKey(name);
    try {
      const decoded = decodeSlot(key, bytes);
      if (!this.#broken) await this.#follow(decoded, bytes);
      this.#count(decoded);
    } catch (error) {
      const { object, problem } = integrityProblem(error, key);
      if (object !== key) this.#problems.note(object, problem);
      await this.#break(name, object === key ? problem : null);
    }
  }

  async #follow(decoded: DecodedSlot, bytes: Uint8Array): Promise<void> {
    this.#rest?.end();
    const verifier = this.#verifier();
    const problems = slotVersionProblems(verifier.state, decoded.slot, bytes);
    if (problems.length > 0) verifier.cannotPack(decoded.slot);
    await verifier.enter(decoded);
    for (const { object, problem } of problems) this.#problems.note(object, problem);
  }

  /** A slot before the checkpoint that the replay went on from. */
  #before(
    rest: RestedSlots,
    name: Sequence,
    bytes: Uint8Array | null,
    problem: string | null,
  ): void {
    const key = slotKey(name);
    try {
      if (bytes === null) throw integrityError(key, problem ?? 'missing');
      const decoded = decodeSlot(key, bytes);
      if (rest.take(decoded, bytes)) this.#count(decoded);
      else this.#stray(name);
    } catch (error) {
      this.#problems.noteIntegrity(error, key);
    }
  }

  #stray(name: Sequence): void {
    if (this.#strays.length < NAMED_MAX) this.#strays.push(slotKey(name));
  }

  #count({ slot }: DecodedSlot): void {
    this.#counts.slots++;
    this.#counts.entries += slot.entries.length;
    this.#counts.inlined += slot.inlined.length;
    this.#options.onProgress?.(this.#done());
  }

  async #bodies(): Promise<void> {
    const { deep = false, signal } = this.#options;
    if (this.#loader === null) return;
    const parts = { bucket: this.#bucket, loader: this.#loader, deep, signal };
    for await (const { kind, problem } of checkBodies(parts, this.#verifier().state)) {
      signal?.throwIfAborted();
      if (problem !== null) this.#problems.note(problem.object, problem.problem);
      this.#counts[kind === 'blob' ? 'blobs' : 'packed']++;
      this.#options.onProgress?.(this.#done());
    }
  }

  #verifier(): CheckpointVerifier {
    if (this.#checkpoints === null) throw new TypeError('no marker has been read');
    return this.#checkpoints;
  }

  #next(): Sequence {
    return sequence(this.#verifier().state.tip.sequence + 1);
  }
}
