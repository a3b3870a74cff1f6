/** What a run came to, as plain data: the JSON itself, and the numbers of text and page. */
import type { BlobOperation } from '../blob/index.ts';
import type { SpikeArguments } from './arguments.ts';
import { MODEL_C_MS } from './idle.ts';
import type { MachineDescription } from './machine.ts';
import type { Samples, Second } from './measure.ts';
import { ratio, rounded } from './numbers.ts';
import type { Outcome } from './outcome.ts';
import type { Overload } from './overload.ts';
import { type Cost, costPerMillion } from './prices.ts';
import type { RssSample } from './watch.ts';

/** Percentiles, in ms and as multiples of c; null when nothing was measured. */
export interface Percentiles {
  readonly p50_ms: number | null;
  readonly p90_ms: number | null;
  readonly p99_ms: number | null;
  readonly p999_ms: number | null;
  readonly max_ms: number | null;
  readonly p50_c: number | null;
  readonly p90_c: number | null;
  readonly p99_c: number | null;
  readonly p999_c: number | null;
}

export interface StoreReport {
  readonly store: string;
  readonly writes: number;
  /** Of all measured writes, 0 to 1. */
  readonly share: number | null;
  readonly p50_c: number | null;
  readonly p99_c: number | null;
  readonly p99_ms: number | null;
}

export interface ReadsReport extends Percentiles {
  readonly count: number;
  readonly per_s: number;
  /** Reads that did not show a version acknowledged before they began. */
  readonly stale: number;
  /** Requests by kind for each read, over the whole run. */
  readonly requests_per_read: Readonly<Record<BlobOperation, number>> | null;
}

/** How the stores said no, over the whole run. */
export interface OverloadReport {
  readonly deadline_ms: number;
  /** Writes that were refused at once (`OVERLOADED` before their deadline), and how quickly. */
  readonly refused: number;
  readonly refused_p50_ms: number | null;
  readonly refused_p99_ms: number | null;
  readonly refused_max_ms: number | null;
  /** Writes that were taken and had no answer by their deadline. */
  readonly overdue: number;
  /** Writes that were acknowledged after their deadline. Must be 0. */
  readonly late_acknowledged: number;
  /** The longest time from asking to an answer. */
  readonly answer_max_ms: number;
}

/** Everything of a run. `null`: there was nothing to divide by. */
export interface Report extends Percentiles {
  readonly scenario: string;
  readonly location: string;
  readonly model: string | null;
  readonly machine: MachineDescription;
  readonly command: string;
  readonly seed: number;
  readonly date: string;
  /** What the percentiles are of. */
  readonly measured: Outcome['measured'];
  readonly c_ms: number;
  /** false: with the model, c lay outside 38 to 44 ms, and the figures say nothing. */
  readonly valid: boolean;
  /** It was ended before its time; the figures are of what was measured until then. */
  readonly interrupted: boolean;
  readonly seconds: number;
  /** Measured ones (creates in `creates`), and those of the whole run. */
  readonly writes: number;
  readonly writes_per_s: number;
  readonly writes_acknowledged: number;
  readonly requests_per_write: Readonly<Record<BlobOperation, number>> | null;
  readonly objects_per_write: number | null;
  readonly bytes_per_write: number | null;
  readonly bytes_read_per_write: number | null;
  readonly usd_per_million_writes: Cost | null;
  readonly cpu_us_per_write: number | null;
  readonly slots: number;
  readonly slots_lost: number;
  /** Records that these stores made; objects and bytes of all that they wrote for any. */
  readonly checkpoints: number;
  readonly checkpoint_objects: number;
  readonly checkpoint_bytes: number;
  /** How late the event loop was, at the 99.9th percentile. Null: it was not measured. */
  readonly event_loop_delay_p999_ms: number | null;
  /** Requests that the bucket refused for their rate (429). */
  readonly throttled: number;
  /** Acknowledged writes that are not in the bucket exactly once. Null: it was not read back. */
  readonly lost_acknowledged: number | null;
  readonly overload: OverloadReport | null;
  /** Failed operations by code, and failed requests by code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly request_errors: Readonly<Record<string, number>>;
  readonly stores: readonly StoreReport[];
  readonly reads: ReadsReport | null;
  readonly per_second: readonly Second[];
  /** Memory of this process (RSS), by seconds from the start of the load. */
  readonly rss: readonly RssSample[];
}

export interface RunFacts {
  readonly asked: SpikeArguments;
  readonly machine: MachineDescription;
  /** ISO 8601. */
  readonly date: string;
  readonly cMs: number;
  readonly interrupted: boolean;
}

export function makeReport(facts: RunFacts, outcome: Outcome): Report {
  const { asked, machine, date, cMs, interrupted } = facts;
  const { samples, tally, acknowledged, seconds, measured } = outcome;
  const { counts } = tally;
  const writes = measured === 'reads' ? 0 : samples.count;
  const per = (sum: number): number | null => ratio(sum, acknowledged);
  return {
    scenario: asked.scenario,
    location: asked.location,
    model: asked.model,
    ...{ machine, command: asked.command, date },
    seed: asked.seed,
    measured,
    c_ms: rounded(cMs),
    valid: asked.model === null || (cMs >= MODEL_C_MS[0] && cMs <= MODEL_C_MS[1]),
    interrupted,
    seconds,
    ...percentilesOf(samples, cMs),
    writes,
    writes_per_s: ratio(writes, seconds) ?? 0,
    writes_acknowledged: acknowledged,
    requests_per_write: eachPer(counts.requests, acknowledged),
    objects_per_write: per(tally.objects),
    bytes_per_write: per(counts.bytesOut),
    bytes_read_per_write: per(counts.bytesIn),
    usd_per_million_writes: costPerMillion(counts.requests, acknowledged),
    cpu_us_per_write: per(outcome.cpuMicros),
    slots: tally.slots,
    slots_lost: tally.lost,
    ...checkpointsOf(outcome),
    throttled: counts.errors.throttled ?? 0,
    lost_acknowledged: outcome.lostAcknowledged,
    overload: overloadOf(outcome.overload),
    errors: outcome.errors,
    request_errors: counts.errors,
    stores: outcome.stores.map(({ store, samples: own }) => {
      const { p50_c, p99_c, p99_ms } = percentilesOf(own, cMs);
      return { store, writes: own.count, share: ratio(own.count, writes), p50_c, p99_c, p99_ms };
    }),
    reads: readsOf(outcome, cMs),
    per_second: samples.perSecond().map(roundedSecond),
    rss: outcome.rss,
  };
}

function checkpointsOf({
  checkpoints,
  loopDelayP999Ms: delayMs,
}: Outcome): Pick<
  Report,
  'checkpoints' | 'checkpoint_objects' | 'checkpoint_bytes' | 'event_loop_delay_p999_ms'
> {
  return {
    checkpoints: checkpoints.checkpoints,
    checkpoint_objects: checkpoints.objects,
    checkpoint_bytes: checkpoints.bytes,
    event_loop_delay_p999_ms: delayMs === null ? null : rounded(delayMs),
  };
}

function overloadOf(overload: Overload | null): OverloadReport | null {
  if (overload === null) return null;
  const { refused, overdue, lateAcknowledged, longestMs } = overload;
  const ms = (share: number): number | null => {
    return refused.count === 0 ? null : rounded(refused.percentile(share));
  };
  return {
    deadline_ms: overload.deadlineMs,
    refused: refused.count,
    refused_p50_ms: ms(0.5),
    refused_p99_ms: ms(0.99),
    refused_max_ms: ms(1),
    overdue,
    late_acknowledged: lateAcknowledged,
    answer_max_ms: rounded(longestMs),
  };
}

function readsOf({ reads, seconds }: Outcome, cMs: number): ReadsReport | null {
  if (reads === null) return null;
  const { samples, answered, stale, tally } = reads;
  const { count } = samples;
  return {
    ...percentilesOf(samples, cMs),
    count,
    per_s: ratio(count, seconds) ?? 0,
    stale,
    requests_per_read: eachPer(tally.counts.requests, answered),
  };
}

/** In ms and in c; null without a sample. */
export function percentilesOf(samples: Samples, cMs: number): Percentiles {
  const ms = (share: number): number | null => {
    return samples.count === 0 ? null : rounded(samples.percentile(share));
  };
  const c = (share: number): number | null => {
    return samples.count === 0 ? null : ratio(samples.percentile(share), cMs);
  };
  return {
    p50_ms: ms(0.5),
    p90_ms: ms(0.9),
    p99_ms: ms(0.99),
    p999_ms: ms(0.999),
    max_ms: ms(1),
    p50_c: c(0.5),
    p90_c: c(0.9),
    p99_c: c(0.99),
    p999_c: c(0.999),
  };
}

function eachPer(
  requests: Readonly<Record<BlobOperation, number>>,
  of: number,
): Readonly<Record<BlobOperation, number>> | null {
  if (of === 0) return null;
  const { create, replace, get, head, list, delete: removed } = requests;
  return {
    create: rounded(create / of),
    replace: rounded(replace / of),
    get: rounded(get / of),
    head: rounded(head / of),
    list: rounded(list / of),
    delete: rounded(removed / of),
  };
}

function roundedSecond(second: Second): Second {
  const { p50Ms, p99Ms, maxMs } = second;
  return { ...second, p50Ms: rounded(p50Ms), p99Ms: rounded(p99Ms), maxMs: rounded(maxMs) };
}
