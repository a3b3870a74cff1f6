/** `bucketstore doctor`: whether a location can hold a world, and what to do when it cannot. */
import { assertUsable, type BlobStore, probe, probeReportLines } from '../../blob/index.ts';
import { StoreError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { readMarker } from '../genesis.ts';
import { bucketFailure } from '../log/failure.ts';
import { LOG_PREFIX, parseSlotKey } from '../log/names.ts';
import { decodeSlot } from '../log/slot.ts';
import { type Command, type CommandContext, clockOf, isSet } from './command.ts';
import { locationArguments, openForCommand, readLocation } from './location.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Try every guarantee that a world needs on a location, and say what is missing.',
  usage: 'LOCATION',
  flags: { all: { type: 'boolean', help: 'Ask for what migration and rollback need too.' } },
  notes: [
    'Of a world that is there, its marker, and whether its clock is ahead of this machine’s.',
  ],
  examples: ['bucketstore doctor file:./data', 'bucketstore doctor gs://my-bucket/worlds --json'],
  run: runDoctor,
};

/**
 * A log whose time is further ahead than this was written on a clock that is wrong, or this one is.
 */
const AHEAD_MS_MAX = 60_000;

async function runDoctor(context: CommandContext): Promise<number> {
  const { location, rest } = locationArguments(context);
  if (rest.length > 0)
    throw new StoreError('USAGE', `doctor takes one location, got ${rest[0]} too`);
  const { signal, components, output } = context;
  const bucket = await openForCommand({ ...readLocation(location) });
  try {
    const chance = components.random ?? systemRandom;
    const timing = clockOf(context);
    const report = await probe(bucket, { chance, timing, signal });
    // A location that cannot serve is told of first, whatever is wrong with a world in it.
    const { world, failure } = await tryFindWorld(context, bucket);
    const lines = failure === null ? worldLines(world) : [];
    output.result({ ...report, world }, [...probeReportLines(report), '', ...lines]);
    assertUsable(report, isSet(context, 'all') ? 'migrate and rollback' : 'always');
    if (failure !== null) throw failure;
    return 0;
  } catch (error) {
    throw bucketFailure(error);
  } finally {
    await bucket.close();
  }
}

interface FoundWorld {
  readonly worldId: string;
  readonly incarnationId: string;
  readonly startSequence: number;
  readonly slots: number;
  /** ms; null for a log without slots. */
  readonly logTime: number | null;
  /**
   * How far the log is ahead of this machine's clock, ms; 0 when it is not by more than a minute.
   */
  readonly aheadMs: number;
}

async function tryFindWorld(
  context: CommandContext,
  bucket: BlobStore,
): Promise<{ readonly world: FoundWorld | null; readonly failure: unknown }> {
  try {
    return { world: await findWorld(context, bucket), failure: null };
  } catch (failure) {
    return { world: null, failure };
  }
}

/** One `get`, and one list for a thousand slots. */
async function findWorld(context: CommandContext, bucket: BlobStore): Promise<FoundWorld | null> {
  const { signal } = context;
  const found = await readMarker({ bucket, signal });
  if (found === null) return null;
  const { worldId, incarnationId, start } = found.marker;
  const { last, slots } = await lastSlot(bucket, signal);
  const read = last === null ? null : await bucket.get(last, { signal });
  const logTime = last !== null && read?.found ? decodeSlot(last, read.bytes).slot.time : null;
  const ahead = (logTime ?? 0) - clockOf(context).now();
  const aheadMs = ahead > AHEAD_MS_MAX ? ahead : 0;
  return { worldId, incarnationId, startSequence: start.sequence, slots, logTime, aheadMs };
}

async function lastSlot(
  bucket: BlobStore,
  signal: AbortSignal,
): Promise<{ readonly last: string | null; readonly slots: number }> {
  let last: string | null = null;
  let slots = 0;
  for (let after: string | undefined; ; ) {
    const page = await bucket.list({ prefix: LOG_PREFIX, after, limit: 1000 }, { signal });
    const keys = page.objects.map(({ key }) => key).filter((key) => parseSlotKey(key) !== null);
    slots += keys.length;
    last = keys.at(-1) ?? last;
    after = page.objects.at(-1)?.key;
    if (!page.more || after === undefined) return { last, slots };
  }
}

function worldLines(world: FoundWorld | null): readonly string[] {
  if (world === null) return ['no world is here yet; bucketstore init or import makes one'];
  const { worldId, incarnationId, slots, logTime, aheadMs } = world;
  const time = logTime === null ? '' : `, the last of ${new Date(logTime).toISOString()}`;
  return [
    `world ${worldId} (incarnation ${incarnationId}) is here: ${slots} slots${time}`,
    ...(aheadMs > 0
      ? [
          `the log's time is ${Math.round(aheadMs / 1000)} s ahead of this machine's clock: one ` +
            'of the clocks is wrong; new slots go on counting from the log',
        ]
      : []),
  ];
}
