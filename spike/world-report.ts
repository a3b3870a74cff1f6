/** What the scenarios of a large world come to, as plain data: the JSON itself. */
import type { BlobOperation } from '../blob/index.ts';
import { MODEL_C_MS } from './idle.ts';
import { ratio, rounded } from './numbers.ts';
import type { RunFacts } from './report.ts';
import type { RssSample } from './watch.ts';

/** Of `seed`. */
export interface SeedFigures {
  readonly scenario: 'seed';
  readonly world: string;
  readonly documents: number;
  /** From the first request to the marker. */
  readonly seconds: number;
  readonly documents_per_s: number | null;
  readonly cpu_us_per_document: number | null;
  readonly requests: Readonly<Record<BlobOperation, number>>;
  /** Sent. */
  readonly bytes: number;
  /** JSON of a document's entry in a segment, in the mean. */
  readonly entry_bytes_per_document: number | null;
  /** The checkpoint that the world starts from, packs included; and of its bytes those of packs. */
  readonly checkpoint_objects: number;
  readonly checkpoint_bytes: number;
  readonly pack_bytes: number;
  /** A store that opens the world afterwards, until everything is in memory. */
  readonly full_ms: number;
  readonly lost_acknowledged: null;
}

/** Of `coldstart`: medians over the runs, where nothing else is said. */
export interface ColdstartFigures {
  readonly scenario: 'coldstart';
  readonly documents: number;
  readonly runs: number;
  /** Slots behind the checkpoint. */
  readonly behind: number;
  /** All runs together. */
  readonly seconds: number;
  /** From before opening to the answer. */
  readonly first_get_ms: number;
  readonly first_get_max_ms: number;
  readonly first_get_c: number | null;
  /** The longest chain of requests up to that answer, the longest of all runs. */
  readonly requests_in_sequence: number;
  /** From before opening until a list and a hash look-up are answered. */
  readonly full_ms: number;
  readonly ls_ms: number;
  readonly lookup_ms: number;
  /** From the first to the last read of a slot behind the checkpoint. */
  readonly replay_ms: number;
  readonly requests: Readonly<Record<BlobOperation, number>>;
  readonly bytes_read: number;
  /** Heap and buffers of an open store, after collection, less those before. */
  readonly resident_bytes: number;
  readonly resident_bytes_per_document: number;
  readonly lost_acknowledged: null;
}

/** One checkpoint of `compact`. */
export interface CheckpointReport {
  /** From the start of the load, s. */
  readonly at_s: number;
  readonly sequence: number;
  readonly objects: number;
  readonly bytes: number;
  readonly pack_bytes: number;
  /** Entries of the documents that changed since the one before. */
  readonly changed_entry_bytes: number;
  /** Whether a base was built. */
  readonly had_base: boolean;
}

/** Of `compact`. */
export interface CompactFigures {
  readonly scenario: 'compact';
  readonly documents: number;
  readonly changes: number;
  readonly seconds: number;
  readonly changes_per_s: number | null;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly p50_c: number | null;
  readonly p99_c: number | null;
  readonly errors: Readonly<Record<string, number>>;
  readonly slots: number;
  readonly checkpoints: readonly CheckpointReport[];
  readonly bases: number;
  readonly changed_entry_bytes: number;
  readonly checkpoint_bytes: number;
  readonly pack_bytes: number;
  readonly checkpoint_objects: number;
  /** Bytes written for each byte of a changed entry, with packs and without. */
  readonly bytes_ratio: number | null;
  readonly bytes_ratio_without_packs: number | null;
  /** Objects of a checkpoint in the mean, and at most, of those that built a base and others. */
  readonly objects_per_checkpoint: number | null;
  readonly objects_max_with_base: number | null;
  readonly objects_max_without_base: number | null;
  /** The largest of a checkpoint without a base, with packs. */
  readonly bytes_ratio_max_without_base: number | null;
  readonly event_loop_delay_p999_ms: number | null;
  readonly rss: readonly RssSample[];
  /** Acknowledged changes that are not in the log exactly once. Null: it was not read back. */
  readonly lost_acknowledged: number | null;
}

export type WorldFigures = SeedFigures | ColdstartFigures | CompactFigures;

/** What every report begins with. */
interface Head {
  readonly location: string;
  readonly model: string | null;
  readonly machine: RunFacts['machine'];
  readonly command: string;
  readonly seed: number;
  readonly date: string;
  readonly c_ms: number;
  /** As of a load's report. */
  readonly valid: boolean;
  readonly interrupted: boolean;
}

export type WorldReport = Head & WorldFigures;

export function makeWorldReport(facts: RunFacts, figures: WorldFigures): WorldReport {
  const { asked, machine, date, cMs, interrupted } = facts;
  const { location, model, command, seed } = asked;
  const c_ms = rounded(cMs);
  const valid = model === null || (cMs >= MODEL_C_MS[0] && cMs <= MODEL_C_MS[1]);
  const head = { location, model, machine, command, seed, date, c_ms, valid, interrupted };
  return { ...figures, ...head, seconds: rounded(figures.seconds) };
}

/** The figures of `compact` that are sums and shares of its checkpoints. */
export function compactSums(
  checkpoints: readonly CheckpointReport[],
): Pick<
  CompactFigures,
  | 'bases'
  | 'changed_entry_bytes'
  | 'checkpoint_bytes'
  | 'pack_bytes'
  | 'checkpoint_objects'
  | 'bytes_ratio'
  | 'bytes_ratio_without_packs'
  | 'objects_per_checkpoint'
  | 'objects_max_with_base'
  | 'objects_max_without_base'
  | 'bytes_ratio_max_without_base'
> {
  const sum = (of: (one: CheckpointReport) => number): number => {
    return checkpoints.reduce((total, one) => total + of(one), 0);
  };
  const most = (some: readonly CheckpointReport[], of: (one: CheckpointReport) => number) => {
    return some.length === 0 ? null : rounded(Math.max(...some.map(of)));
  };
  const withBase = checkpoints.filter(({ had_base }) => had_base);
  const without = checkpoints.filter(({ had_base }) => !had_base);
  const changed = sum(({ changed_entry_bytes: bytes }) => bytes);
  const bytes = sum((one) => one.bytes);
  const packs = sum(({ pack_bytes }) => pack_bytes);
  const objects = sum((one) => one.objects);
  const changing = without.filter(({ changed_entry_bytes }) => changed_entry_bytes > 0);
  return {
    bases: withBase.length,
    changed_entry_bytes: changed,
    checkpoint_bytes: bytes,
    pack_bytes: packs,
    checkpoint_objects: objects,
    bytes_ratio: ratio(bytes, changed),
    bytes_ratio_without_packs: ratio(bytes - packs, changed),
    objects_per_checkpoint: ratio(objects, checkpoints.length),
    objects_max_with_base: most(withBase, (one) => one.objects),
    objects_max_without_base: most(without, (one) => one.objects),
    bytes_ratio_max_without_base: most(changing, (one) => one.bytes / one.changed_entry_bytes),
  };
}
