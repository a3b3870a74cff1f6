/**
 * Stores in processes of their own, as the contract suite uses stores: nothing shared but the
 * bucket.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../../bucketstore/index.ts';
import type { ContractStore, ContractView } from '../contract/index.ts';
import { type Answer, decode, encode, type Request, type Wire } from './store-wire.ts';

const WORKER = fileURLToPath(new URL('./store-worker.ts', import.meta.url));

type Method = (...args: unknown[]) => Promise<unknown>;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/** Starts a process that opens a store at a location. */
export async function startStore(
  location: string,
  settings: Partial<Settings>,
  env: Readonly<Record<string, string>> = {},
): Promise<ContractStore> {
  const args = ['--import', 'tsx', WORKER, location, JSON.stringify(settings)];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const remote = new RemoteStore(child);
  const { worldId, storeId } = await remote.ready;
  // At once, so that what a caller changes after its call is not what is sent.
  const method = (name: string): Method => {
    return (...given) => remote.call(0, name, given);
  };
  const view = (): ContractView => {
    const handle = remote.call(0, 'view', []) as Promise<number>;
    const read = (name: string): Method => {
      return async (...given) => remote.call(await handle, name, given);
    };
    return proxy(read) as ContractView;
  };
  const close = async (): Promise<void> => {
    await remote.call(0, 'close', []);
    await remote.end();
  };
  const own: { readonly [name: string]: unknown } = { worldId, storeId, view, close };
  return proxy((name) => own[name] ?? method(name)) as ContractStore;
}

/** An object whose members are made by name; not thenable. */
function proxy(member: (name: string) => unknown): object {
  return new Proxy(
    {},
    { get: (_, name) => (typeof name === 'string' && name !== 'then' ? member(name) : undefined) },
  );
}

class RemoteStore {
  readonly ready: Promise<{ readonly worldId: string; readonly storeId: string }>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #callbacks = new Map<number, (state: object, prepared: unknown) => unknown>();
  /** Errors that preconditions threw, to be given back as they were. */
  readonly #thrown = new Map<number, unknown>();
  #count = 0;
  #onReady: (ready: { readonly worldId: string; readonly storeId: string }) => void = () =>
    undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      child.once('exit', (code) => {
        const error = new Error(`the store's process has ended with ${code}`);
        reject(error);
        for (const { reject: fail } of this.#waiting.values()) fail(error);
      });
    });
    if (child.stdout === null) throw new TypeError('a child without output');
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(JSON.parse(line)));
  }

  call(target: number, method: string, given: readonly unknown[]): Promise<unknown> {
    const id = ++this.#count;
    let signal: AbortSignal | undefined;
    const args = encode(given, {
      encode: (value) => {
        if (value instanceof AbortSignal) {
          signal = value;
          if (!value.aborted) value.addEventListener('abort', () => this.#send({ abort: id }));
          return { $signal: value.aborted };
        }
        return typeof value === 'function' ? this.#callback(value as () => unknown) : undefined;
      },
    });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, signal });
      this.#send({ id, target, method, args });
    });
  }

  async end(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await exited;
  }

  #callback(run: (state: object, prepared: unknown) => unknown): Wire {
    const id = ++this.#count;
    this.#callbacks.set(id, run);
    return { $fn: id };
  }

  #take(answer: Answer): void {
    if ('ready' in answer) this.#onReady(answer.ready);
    else if ('callback' in answer) {
      this.#run(answer).catch((error: unknown) => console.error(error));
    } else this.#settle(answer);
  }

  #settle(answer: Extract<Answer, { readonly id: number }>): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('result' in answer) {
      waiting?.resolve(decode(answer.result));
      return;
    }
    const error = decode(answer.error, {
      decode: (name, value) =>
        name === '$aborted' ? waiting?.signal?.reason : this.#thrown.get(Number(value)),
    });
    waiting?.reject(error);
  }

  async #run({ callback, call, state, prepared }: Extract<Answer, { callback: number }>) {
    const reader = proxy(
      (name) =>
        (...given: unknown[]) =>
          this.call(state, name, given),
    );
    try {
      await this.#callbacks.get(callback)?.(reader, decode(prepared));
      this.#send({ reply: call });
    } catch (error) {
      const id = ++this.#count;
      this.#thrown.set(id, error);
      this.#send({ reply: call, error: { $thrown: id } });
    }
  }

  #send(request: Request): void {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
  }
}
