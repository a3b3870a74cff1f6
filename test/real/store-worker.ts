// One store in a process of its own: `store-worker.ts LOCATION SETTINGS`. Reads requests from its
// input, a JSON line each, and prints answers; `store-process.ts` is the other end,
// `store-wire.ts` the words.

import { createInterface } from 'node:readline';
import { openWorld } from '../../bucketstore/index.ts';
import { type Answer, decode, encode, type Request, type Wire } from './store-wire.ts';

const [location = '', settings = '{}'] = process.argv.slice(2);

/** An error that the test threw in a precondition: given back as it was. */
class Thrown {
  readonly wire: Wire;

  constructor(wire: Wire) {
    this.wire = wire;
  }
}

const world = await openWorld(location, { create: true, settings: JSON.parse(settings) });
const targets = new Map<number, object>([[0, world]]);
const signals = new Map<number, AbortController>();
const replies = new Map<number, (error: Wire | undefined) => void>();
let handles = 1;

function print(answer: Answer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function signalOf(id: number, aborted: boolean): AbortSignal {
  const controller = new AbortController();
  signals.set(id, controller);
  if (aborted) controller.abort(new Thrown({ $aborted: true }));
  return controller.signal;
}

/** A precondition that runs in the test's process. */
function remote(callback: number): (state: object, prepared: unknown) => Promise<void> {
  return async (state, prepared) => {
    const handle = handles++;
    const call = handles++;
    targets.set(handle, state);
    const replied = new Promise<Wire | undefined>((resolve) => replies.set(call, resolve));
    print({ callback, call, state: handle, prepared: encode(prepared) });
    const error = await replied;
    targets.delete(handle);
    replies.delete(call);
    if (error !== undefined) throw new Thrown(error);
  };
}

async function run({
  id,
  target,
  method,
  args,
}: Extract<Request, { id: number }>): Promise<Answer> {
  try {
    const decoded = decode(args, {
      decode: (name, value) =>
        name === '$signal' ? signalOf(id, value === true) : remote(Number(value)),
    });
    const object = targets.get(target) as { [name: string]: (...args: unknown[]) => unknown };
    const call = object[method];
    if (call === undefined) throw new RangeError(`no method ${method}`);
    const result = await call.apply(object, decoded as unknown[]);
    if (method !== 'view') return { id, result: encode(result ?? null) };
    const handle = handles++;
    targets.set(handle, result as object);
    return { id, result: handle };
  } catch (error) {
    return { id, error: error instanceof Thrown ? error.wire : encode(error) };
  } finally {
    signals.delete(id);
  }
}

print({ ready: { worldId: world.worldId, storeId: world.storeId } });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  if ('abort' in request) signals.get(request.abort)?.abort(new Thrown({ $aborted: true }));
  else if ('reply' in request) replies.get(request.reply)?.(request.error);
  else run(request).then(print, (error: unknown) => console.error(error));
}
