/**
 * A bucket whose writes land late, or whose calls are never answered. The test decides when, and
 * whether, a held call takes effect: after its caller has given up, or after the name was freed
 * again.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import { BlobError, type BlobOperation, isWrite } from '../../blob/errors.ts';

/**
 * - `lands-later`: fails at once, ambiguously, and takes effect when released.
 * - `never-answers`: takes effect when released, and its promise never settles, whatever its signal
 *   does.
 * - `stored-unanswered`: takes effect at once, and its promise never settles.
 */
export type StallMode = 'lands-later' | 'never-answers' | 'stored-unanswered';

export interface Stall {
  readonly mode: StallMode;
  /** Default `create`. */
  readonly operation?: BlobOperation;
  /** Default every key. */
  readonly key?: (key: string) => boolean;
  /** How many calls. Default 1. */
  readonly times?: number;
}

/** A call that has not reached the bucket yet. */
export interface HeldCall {
  readonly call: Call;
  /** It reaches the bucket now; answers what the bucket said. Once only. */
  land(): Promise<CallResult>;
}

export interface StallingBucket {
  readonly store: BlobStore;
  /** Stalls calls to come. */
  stall(stall: Stall): void;
  /** Calls on their way, oldest first. */
  readonly held: readonly HeldCall[];
  /** All held calls land, in order. */
  release(): Promise<void>;
}

/** `store` whose calls can be stalled. */
export function withStalls(store: BlobStore): StallingBucket {
  const stalls: { readonly stall: Stall; left: number }[] = [];
  const held: HeldCall[] = [];
  const hold = <T extends CallResult>(call: Call, send: Send<T>): void => {
    const entry: HeldCall = {
      call,
      land: () => {
        const at = held.indexOf(entry);
        if (at < 0) throw new Error(`${call.operation} ${call.key} has landed`);
        held.splice(at, 1);
        // What is under way on the wire knows nothing of the caller's signal.
        return send({ signal: undefined });
      },
    };
    held.push(entry);
  };
  const around = async <T extends CallResult>(call: Call, send: Send<T>): Promise<T> => {
    const entry = stalls.find(({ stall, left }) => left > 0 && matches(stall, call));
    if (entry === undefined) return send();
    entry.left--;
    const { mode } = entry.stall;
    if (mode === 'stored-unanswered') await send({ signal: undefined });
    else hold(call, send);
    if (mode !== 'lands-later') return new Promise<never>(() => {});
    const { operation, key } = call;
    const ambiguous = isWrite(operation);
    throw new BlobError({ code: 'timeout', operation, key, message: 'stalled', ambiguous });
  };
  return {
    store: decorate(store, around),
    stall: (stall) => {
      stalls.push({ stall, left: stall.times ?? 1 });
    },
    held,
    async release() {
      for (const entry of [...held]) await entry.land();
    },
  };
}

function matches({ operation = 'create', key }: Stall, call: Call): boolean {
  return operation === call.operation && (key === undefined || key(call.key));
}
