/**
 * Merges in a thread of its own, so that commits do not feel it: here tables are only read, handed
 * over, taken and written. The thread is begun for the first merge that is worth it, kept for the
 * next for a while, and never what a program waits for to end.
 */
import { Worker } from 'node:worker_threads';
import { after, type Clock } from '../bucketstore/base/clock.ts';
import type { Logger } from '../bucketstore/base/diagnostics.ts';
import { StoreError } from '../bucketstore/base/errors.ts';
import { createLimit } from '../bucketstore/base/limit.ts';
import { InTurnsMerger } from './in-turns-merger.ts';
import { runMergeJob } from './merge-job.ts';
import type { MergeOptions, RunMerger, RunSink, RunSource } from './merger.ts';
import type { TableKind } from './table-directory.ts';

export interface WorkerMergerParts {
  /** The machine's: threads know no other. */
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default 1 MiB; others are for proofs. */
  readonly worthBytes?: number | undefined;
}

/** Less is merged before a thread has begun. */
const WORTH_BYTES = 1_048_576;
/** A thread without work is ended after so long. */
const IDLE_MS = 10_000;

export class WorkerMerger implements RunMerger {
  readonly #parts: WorkerMergerParts;
  readonly #inTurns: RunMerger;
  readonly #one = createLimit(1);
  readonly #ended = new AbortController();
  #worker: Worker | null = null;
  /** Keeps an idle thread from being ended. */
  #keep: () => void = () => undefined;
  /** No thread can be begun here: everything is merged without. */
  #hasNone = false;

  constructor(parts: WorkerMergerParts) {
    this.#parts = parts;
    this.#inTurns = new InTurnsMerger(async () => parts.clock.turn?.());
  }

  /** Whether a thread is there. */
  get hasThread(): boolean {
    return this.#worker !== null;
  }

  async merge(
    kind: TableKind,
    runs: readonly RunSource[],
    sink: RunSink,
    options: MergeOptions,
  ): Promise<void> {
    const ended = this.#ended.signal;
    ended.throwIfAborted();
    const { signal: own } = options;
    const signal = own === undefined ? ended : AbortSignal.any([own, ended]);
    const bounded = { ...options, signal };
    const { worthBytes = WORTH_BYTES } = this.#parts;
    if (bytesOf(runs) < worthBytes) return this.#inTurns.merge(kind, runs, sink, bounded);
    return this.#one.run(() => this.#inThread(kind, runs, sink, bounded), { signal });
  }

  async close(): Promise<void> {
    this.#ended.abort(new StoreError('CLOSED', 'the store was closed; nothing has changed'));
    await this.#drop();
  }

  async #inThread(
    tables: TableKind,
    runs: readonly RunSource[],
    sink: RunSink,
    options: MergeOptions,
  ): Promise<void> {
    this.#keep();
    const worker = this.#worker ?? (await this.#begin());
    if (worker === null) return this.#inTurns.merge(tables, runs, sink, options);
    worker.ref();
    try {
      await runMergeJob({ worker, tables, runs, sink, options });
    } catch (error) {
      await this.#drop();
      throw error;
    }
    worker.unref();
    this.#keep = after(this.#parts.clock, IDLE_MS, () => void this.#drop(), {
      holdsProcess: false,
    });
  }

  /** Null when there are no threads here, or the program of this one is not there. */
  async #begin(): Promise<Worker | null> {
    if (this.#hasNone || !isCompiled()) return null;
    try {
      const worker = newWorker();
      await new Promise<void>((resolve, reject) => {
        worker.once('message', () => resolve());
        // They stay, and say nothing later: a thread that ends while it is idle is not used any
        // more.
        worker.on('error', reject);
        worker.on('exit', (status) => reject(new Error(`ended with status ${status}`)));
      });
      worker.on('exit', () => {
        if (this.#worker === worker) this.#worker = null;
      });
      this.#worker = worker;
      return worker;
    } catch (err) {
      this.#hasNone = true;
      this.#parts.logger.warn({ err }, 'no thread to merge in: checkpoints are made without');
      return null;
    }
  }

  async #drop(): Promise<void> {
    this.#keep();
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}

/** Whether this file is compiled: a thread begins without whatever reads TypeScript here. */
function isCompiled(): boolean {
  return new URL(import.meta.url).pathname.endsWith('.js');
}

/** The program lies beside this file. */
function newWorker(): Worker {
  return new Worker(new URL('./merge-worker.js', import.meta.url), { execArgv: [] });
}

function bytesOf(runs: readonly RunSource[]): number {
  let bytes = 0;
  for (const { tables } of runs) for (const table of tables) bytes += table.bytes;
  return bytes;
}
