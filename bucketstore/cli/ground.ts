/** `bucketstore ground`: the ground that a world stands on, shown on a location. */
import { type BlobStore, createCounter, probe, probeReportLines } from '../../blob/index.ts';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { bucketFailure } from '../log/failure.ts';
import type { Command, CommandContext } from './command.ts';
import { openForCommand, readLocation } from './location.ts';

const CREATORS = 50;
const NAMES = 20;

export const ground: Command = {
  name: 'ground',
  summary: 'Show what a world is built on: the guarantees, and a race for names.',
  usage: '[LOCATION]',
  flags: {},
  examples: ['bucketstore ground file:./data'],
  run: runGround,
};

async function runGround(context: CommandContext): Promise<number> {
  const location = readLocation(context.positionals[0] ?? 'file:./data/ground');
  const counter = createCounter();
  const bucket = await openForCommand(location, { createDirectory: true, observer: counter });
  try {
    const report = await probe(bucket, { chance: systemRandom, timing: systemClock });
    for (const line of probeReportLines(report)) context.output.line(line);
    context.output.line('');
    context.output.line(`${CREATORS} creators race for each of ${NAMES} names:`);
    const prefix = `_demarkus/v1/probe/${systemRandom.uuid()}/`;
    let honest = 0;
    for (let name = 0; name < NAMES; name++) {
      context.signal.throwIfAborted();
      if (await race(bucket, `${prefix}${name}`)) honest += 1;
    }
    const { creates } = { creates: CREATORS * NAMES };
    const words = `${honest} of ${NAMES} names had one winner, and hold the winner's bytes`;
    context.output.result({ report, creates, honest, names: NAMES }, [`  ${words}`]);
    return honest === NAMES ? 0 : 5;
  } catch (error) {
    throw bucketFailure(error);
  } finally {
    await bucket.close();
  }
}

/** Lets everybody create one name; true when one was told so and its bytes are there. */
async function race(bucket: BlobStore, key: string): Promise<boolean> {
  const bodies = Array.from({ length: CREATORS }, (_, index) => Buffer.from(`creator ${index}`));
  const results = await Promise.all(bodies.map((body) => bucket.create(key, body)));
  const winners = bodies.filter((_, index) => results[index]?.outcome === 'created');
  const stored = await bucket.get(key);
  await bucket.delete(key);
  const [winner] = winners;
  if (winners.length !== 1 || winner === undefined || !stored.found) return false;
  return Buffer.compare(stored.bytes, winner) === 0;
}
