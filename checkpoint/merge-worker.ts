/**
 * The thread that merges: the program of a worker. It asks for tables as the merge comes to them
 * and hands over what it makes; everything that is read or written is the other side's.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { EncodedHistory } from './history.ts';
import {
  AHEAD,
  failureOf,
  type MergeReport,
  type MergeRequest,
  wholeBuffer,
} from './merge-messages.ts';
import { mergeRuns } from './merge-runs.ts';
import type { RunSink, RunSource } from './merger.ts';
import type { BuiltTable } from './table-builder.ts';

/** One side of the talk: a port, and what is waited for. */
class MergeThread implements RunSink {
  readonly #port: MessagePort;
  #onBytes: ((bytes: Uint8Array) => void) | null = null;
  #onTaken: (() => void) | null = null;
  /** Made, and not taken yet. */
  #ahead = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (request: MergeRequest) => this.#take(request));
    this.#send({ kind: 'ready' });
  }

  async table(table: BuiltTable): Promise<void> {
    await this.#room(AHEAD);
    this.#ahead += 1;
    this.#send({ kind: 'made', table }, wholeBuffer(table.bytes));
  }

  async kept(run: number, table: number): Promise<void> {
    this.#send({ kind: 'kept', run, table });
  }

  async closed(block: EncodedHistory): Promise<void> {
    await this.#room(AHEAD);
    this.#ahead += 1;
    this.#send({ kind: 'closed', block });
  }

  #take(request: MergeRequest): void {
    switch (request.kind) {
      case 'merge':
        void this.#merge(request);
        return;
      case 'bytes':
        this.#onBytes?.(request.bytes);
        return;
      case 'taken':
        this.#ahead -= 1;
        this.#onTaken?.();
        return;
      default:
        request satisfies never;
    }
  }

  async #merge({ tables, runs, options }: MergeRequest & { kind: 'merge' }): Promise<void> {
    try {
      const sources = runs.map((refs, run): RunSource => {
        return { tables: refs, read: (table) => this.#read(run, table) };
      });
      // Nothing else runs here.
      await mergeRuns(tables, sources, this, options, async () => undefined);
      await this.#room(1);
      this.#send({ kind: 'done' });
    } catch (error) {
      this.#send({ kind: 'failed', failure: failureOf(error) });
    }
  }

  #read(run: number, table: number): Promise<Uint8Array> {
    return new Promise((resolve) => {
      this.#onBytes = resolve;
      this.#send({ kind: 'wants', run, table });
    });
  }

  /** Resolves when fewer than `ahead` are not taken. */
  async #room(ahead: number): Promise<void> {
    while (this.#ahead >= ahead) {
      await new Promise<void>((resolve) => {
        this.#onTaken = resolve;
      });
    }
  }

  #send(report: MergeReport, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(report, transfer);
  }
}

if (parentPort !== null) new MergeThread(parentPort);
