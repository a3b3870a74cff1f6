/** A bucket of which a test holds single calls, on their way there or on their way back. */
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import { drain } from './manual-clock.ts';

export interface Held {
  /** How many calls wait at it. */
  readonly waiting: number;
  /** Lets them go on, and all that come later; returns when what can run then has run. */
  open(): Promise<void>;
}

export interface GatedBucket {
  readonly store: BlobStore;
  /** Holds the calls that match, until it is opened. */
  hold(where: 'request' | 'answer', matches: (call: Call) => boolean): Held;
  /** Every call that has been made, oldest first. */
  readonly calls: Call[];
}

interface Gate {
  readonly where: 'request' | 'answer';
  readonly matches: (call: Call) => boolean;
  readonly passes: (() => void)[];
  isOpen: boolean;
}

export function withGates(below: BlobStore): GatedBucket {
  const gates: Gate[] = [];
  const calls: Call[] = [];
  const pass = async (call: Call, where: Gate['where']): Promise<void> => {
    for (const gate of gates) {
      if (gate.isOpen || gate.where !== where || !gate.matches(call)) continue;
      await new Promise<void>((resolve) => gate.passes.push(resolve));
    }
  };
  const around = async <T extends CallResult>(call: Call, send: Send<T>): Promise<T> => {
    calls.push(call);
    await pass(call, 'request');
    // What is under way knows nothing of the caller's signal.
    const answer = await send({ signal: undefined });
    await pass(call, 'answer');
    return answer;
  };
  return {
    store: decorate(below, around),
    calls,
    hold(where, matches) {
      const gate: Gate = { where, matches, passes: [], isOpen: false };
      gates.push(gate);
      return {
        get waiting() {
          return gate.passes.length;
        },
        async open() {
          gate.isOpen = true;
          for (const go of gate.passes) go();
          await drain();
        },
      };
    },
  };
}
