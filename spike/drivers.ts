/**
 * What the drivers do: creates and gets a second with their latencies at 1, 32 and 128 at once, and
 * the sockets that are open after 10,000 mixed calls, many of which end early.
 *
 * Run: `npx tsx spike/drivers.ts LOCATION [CALLS]`; prints JSON, one object.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { cpus } from 'node:os';
import { type BlobStore, openBucket, parseLocation } from '../blob/index.ts';
import { systemClock } from '../bucketstore/base/clock.ts';
import { createLimit } from '../bucketstore/base/limit.ts';
import { systemRandom } from '../bucketstore/base/random.ts';

const BODY = Buffer.alloc(1024, 'x');
const CONCURRENCIES = [1, 32, 128];

interface Rate {
  readonly concurrency: number;
  readonly calls: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function measure(
  calls: number,
  concurrency: number,
  call: (index: number) => Promise<unknown>,
): Promise<Rate> {
  const durations: number[] = [];
  const startedAt = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < calls) {
      const index = next++;
      const at = performance.now();
      await call(index);
      durations.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  durations.sort((a, b) => a - b);
  const at = (share: number): number => durations[Math.floor(share * (calls - 1))] ?? Number.NaN;
  return {
    concurrency,
    calls,
    perSecond: Math.round(calls / seconds),
    p50Ms: round(at(0.5)),
    p99Ms: round(at(0.99)),
  };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Sockets this process holds. */
function openSockets(): number {
  const descriptors = readdirSync('/proc/self/fd');
  return descriptors.filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

/** Calls that end in every way: found, missing, taken, ranges, aborted after they were sent. */
async function mixed(bucket: BlobStore, prefix: string, index: number): Promise<void> {
  const key = `${prefix}mixed/${index % 500}`;
  switch (index % 6) {
    case 0:
      await bucket.create(key, BODY);
      break;
    case 1:
      await bucket.get(key, { range: [0, 10] });
      break;
    case 2:
      await bucket.get(`${key}-missing`);
      break;
    case 3:
      await bucket.head(key);
      break;
    case 4:
      await bucket.list({ prefix: `${prefix}mixed/`, limit: 5 });
      break;
    default: {
      const abort = new AbortController();
      const reading = bucket.get(key, { signal: abort.signal }).catch(() => undefined);
      await Promise.resolve();
      abort.abort(new Error('enough'));
      await reading;
    }
  }
}

const [location = 'memory:', callsText = '1000'] = process.argv.slice(2);
const calls = Number(callsText);
const bucket = await openBucket(parseLocation(location), {
  timing: systemClock,
  chance: systemRandom,
  lanes: { commit: createLimit(256), read: createLimit(256), bulk: createLimit(32) },
  createDirectory: true,
  hedge: false,
});
const prefix = `_demarkus/v1/probe/${systemRandom.uuid()}/`;
await bucket.create(`${prefix}warm`, BODY);
const creates: Rate[] = [];
const gets: Rate[] = [];
for (const concurrency of CONCURRENCIES) {
  const key = (index: number): string => `${prefix}${concurrency}/${index}`;
  const create = (index: number): Promise<unknown> => {
    return bucket.create(key(index), BODY, { lane: 'commit' });
  };
  creates.push(await measure(calls, concurrency, create));
  gets.push(await measure(calls, concurrency, (index) => bucket.get(key(index))));
}
const before = openSockets();
const mixedRate = await measure(10_000, 128, (index) => mixed(bucket, prefix, index));
const after = openSockets();
await systemClock.sleep(6000);
const idle = openSockets();
const report = {
  location,
  machine: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, Node ${process.version}`,
  creates,
  gets,
  mixed: mixedRate,
  sockets: { beforeMixed: before, afterMixed: after, sixSecondsLater: idle },
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
await bucket.close();
process.stdout.write(`sockets after close: ${openSockets()}\n`);
