/** One merge that another thread does, as the side sees it that reads and writes for it. */
import type { Worker } from 'node:worker_threads';
import { onAbort } from '../bucketstore/base/abortable.ts';
import { assertNever } from '../bucketstore/base/assert.ts';
import { StoreError } from '../bucketstore/base/errors.ts';
import { errorOf, type MergeReport, type MergeRequest, wholeBuffer } from './merge-messages.ts';
import type { MergeOptions, RunSink, RunSource } from './merger.ts';
import type { TableKind } from './table-directory.ts';

export interface MergeJobParts {
  readonly worker: Worker;
  readonly tables: TableKind;
  readonly runs: readonly RunSource[];
  readonly sink: RunSink;
  readonly options: MergeOptions;
}

/**
 * Has a worker do a merge; `RunMerger` says what. The worker is of no use any more unless it
 * resolves, and must then be ended.
 */
export function runMergeJob(parts: MergeJobParts): Promise<void> {
  return new Promise((resolve, reject) => new MergeJob(parts, resolve, reject).begin());
}

class MergeJob {
  readonly #parts: MergeJobParts;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  /** Takes away every listener. */
  readonly #forget: (() => void)[] = [];
  /** What the sink has been given, one after another. */
  #taking: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(parts: MergeJobParts, resolve: () => void, reject: (reason: unknown) => void) {
    this.#parts = parts;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { worker, tables, runs, options } = this.#parts;
    const { signal, ...rest } = options;
    const fail = (reason: unknown): void => this.#fail(reason);
    const onMessage = (report: MergeReport): void => this.#hear(report);
    const onExit = (status: number): void => {
      fail(new StoreError('UNAVAILABLE', `the thread that merges ended with status ${status}`));
    };
    worker.on('message', onMessage).on('error', fail).on('messageerror', fail).on('exit', onExit);
    this.#forget.push(() => {
      worker.off('message', onMessage).off('error', fail);
      worker.off('messageerror', fail).off('exit', onExit);
    });
    if (signal?.aborted === true) {
      fail(signal.reason);
      return;
    }
    if (signal !== undefined) this.#forget.push(onAbort(signal, () => fail(signal.reason)));
    const request = { tables, runs: runs.map((run) => run.tables), options: rest };
    this.#send({ kind: 'merge', ...request });
  }

  #hear(report: MergeReport): void {
    const { sink } = this.#parts;
    switch (report.kind) {
      case 'ready':
        return;
      case 'wants':
        this.#read(report).catch((error) => this.#fail(error));
        return;
      case 'kept':
        this.#then(() => sink.kept(report.run, report.table));
        return;
      case 'made':
        this.#then(() => this.#taken(sink.table(report.table)));
        return;
      case 'closed':
        this.#then(() => this.#taken(sink.closed(report.block)));
        return;
      case 'done':
        this.#then(async () => this.#end(this.#resolve));
        return;
      case 'failed':
        this.#fail(errorOf(report.failure));
        return;
      default:
        assertNever(report);
    }
  }

  async #read({ run, table }: { readonly run: number; readonly table: number }): Promise<void> {
    const source = this.#parts.runs[run];
    if (source === undefined) throw new RangeError(`no run ${run}`);
    const bytes = await source.read(table);
    this.#send({ kind: 'bytes', bytes }, wholeBuffer(bytes));
  }

  async #taken(written: Promise<void>): Promise<void> {
    await written;
    this.#send({ kind: 'taken' });
  }

  /** Does what must come after all that was heard before. */
  #then(act: () => Promise<void>): void {
    this.#taking = this.#taking.then(() => (this.#isOver ? undefined : act()));
    this.#taking.catch((error) => this.#fail(error));
  }

  #send(request: MergeRequest, transfer: ArrayBuffer[] = []): void {
    if (!this.#isOver) this.#parts.worker.postMessage(request, transfer);
  }

  #fail(reason: unknown): void {
    this.#end(() => this.#reject(reason));
  }

  #end(act: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const forget of this.#forget) forget();
    act();
  }
}
