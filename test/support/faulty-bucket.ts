/**
 * A bucket that fails as told: rules match calls by operation, key and count, and say what happens
 * to them. What a call does to the bucket and what its caller is told are separate, as on a real
 * network.
 */
import type { BlobStore, Timing } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import { BlobError, type BlobErrorCode, type BlobOperation, isWrite } from '../../blob/errors.ts';
import { abortedError } from '../../blob/signal.ts';

/** What happens to a call. `stored`: it takes effect all the same; default false. */
export type Fault =
  /**
   * It fails. `ambiguous` defaults to what a driver would say: true for writes with an open
   * outcome.
   */
  | {
      readonly kind: 'fail';
      readonly code: BlobErrorCode;
      readonly stored?: boolean;
      readonly ambiguous?: boolean;
      readonly retryAfterMs?: number;
    }
  /**
   * A create answers "exists": a client library repeated it by itself, or somebody else was first.
   */
  | { readonly kind: 'exists'; readonly stored?: boolean }
  /** A get loses the last `missing` bytes and does not say so. */
  | { readonly kind: 'short'; readonly missing: number }
  /** It takes effect `beforeMs` late and answers `afterMs` later; other rules then apply too. */
  | { readonly kind: 'delay'; readonly beforeMs?: number; readonly afterMs?: number };

export interface Rule {
  readonly fault: Fault;
  /** Default every operation. */
  readonly operation?: BlobOperation;
  /** Default every key (or prefix of a list). */
  readonly key?: (key: string) => boolean;
  /** Skips this many matching calls first. Default 0. */
  readonly skip?: number;
  /** Then applies to this many. Default 1. */
  readonly times?: number;
  /** Of those it would apply to, only the ones for which this answers true. */
  readonly when?: (call: Call) => boolean;
}

/** 409 `ConditionalRequestConflict`: stored or not unknown. */
export const conflict = (stored: boolean): Fault => ({ kind: 'fail', code: 'unavailable', stored });
/** 429: less, please; a write may have been stored. */
export const throttled = (stored = false): Fault => ({ kind: 'fail', code: 'throttled', stored });
/** 503, before or after the commit. */
export const unavailable = (stored = false): Fault => ({
  kind: 'fail',
  code: 'unavailable',
  stored,
});
/** The answer is lost after the call took effect. */
export const lostAnswer: Fault = { kind: 'fail', code: 'timeout', stored: true };

export interface FaultyBucket {
  readonly store: BlobStore;
  /** One more rule, after the others. */
  add(rule: Rule): void;
  /**
   * How often each rule applied, in their order: a test asserts that what it counts on happened.
   */
  hits(): readonly number[];
}

interface Counted {
  readonly rule: Rule;
  matched: number;
  hits: number;
}

/** `store` with faults. Delays happen first; of the other rules the first that applies decides. */
export function withFaults(
  store: BlobStore,
  rules: readonly Rule[],
  { timing }: { readonly timing: Timing },
): FaultyBucket {
  const counted = rules.map((rule): Counted => ({ rule, matched: 0, hits: 0 }));
  const around = async <T extends CallResult>(call: Call, send: Send<T>): Promise<T> => {
    let beforeMs = 0;
    let afterMs = 0;
    let fault: Exclude<Fault, { kind: 'delay' }> | undefined;
    // All rules look at the call when it arrives, so the order of calls is the order of counting.
    for (const entry of counted) {
      const found = entry.rule.fault;
      const due = isDue(entry, call);
      if (!due || (found.kind !== 'delay' && fault !== undefined)) continue;
      entry.hits++;
      if (found.kind !== 'delay') fault = found;
      else {
        beforeMs += found.beforeMs ?? 0;
        afterMs += found.afterMs ?? 0;
      }
    }
    await pause(timing, call, beforeMs, false);
    const result = fault === undefined ? await send() : await suffer(fault, call, send);
    await pause(timing, call, afterMs, true);
    return result;
  };
  return {
    store: decorate(store, around),
    add: (rule) => counted.push({ rule, matched: 0, hits: 0 }),
    hits: () => counted.map((entry) => entry.hits),
  };
}

function isDue(entry: Counted, call: Call): boolean {
  const { operation, key, skip = 0, times = 1, when } = entry.rule;
  if (operation !== undefined && operation !== call.operation) return false;
  if (key !== undefined && !key(call.key)) return false;
  entry.matched++;
  if (entry.matched <= skip || entry.hits >= times) return false;
  return when === undefined || when(call);
}

async function suffer<T extends CallResult>(
  fault: Exclude<Fault, { kind: 'delay' }>,
  call: Call,
  send: Send<T>,
): Promise<T> {
  const { operation, key } = call;
  switch (fault.kind) {
    case 'fail': {
      if (fault.stored) await send();
      const { code, retryAfterMs } = fault;
      const open = code === 'throttled' || code === 'unavailable' || code === 'timeout';
      const ambiguous = fault.ambiguous ?? (open && isWrite(operation));
      const message = 'as the test ordered';
      throw new BlobError({ code, operation, key, message, ambiguous, retryAfterMs });
    }
    case 'exists': {
      if (fault.stored) await send();
      // The rule names a create, whose result this is.
      return { outcome: 'exists' } as T;
    }
    case 'short': {
      const result = await send();
      if (!('bytes' in result)) return result;
      return { ...result, bytes: result.bytes.slice(0, -fault.missing) };
    }
    default:
      return fault satisfies never;
  }
}

async function pause(timing: Timing, call: Call, ms: number, sent: boolean): Promise<void> {
  if (ms === 0) return;
  const { signal } = call.options;
  try {
    await timing.sleep(ms, { signal });
  } catch {
    throw abortedError(call.operation, call.key, signal?.reason, sent);
  }
}
