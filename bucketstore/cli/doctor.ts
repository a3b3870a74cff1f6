/** `bucketstore doctor`: whether a location can hold a world, and what to do when it cannot. */
import { assertUsable, probe, probeReportLines } from '../../blob/index.ts';
import { systemClock } from '../base/clock.ts';
import { StoreError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { bucketFailure } from '../log/failure.ts';
import { type Command, type CommandContext, isSet } from './command.ts';
import { locationArguments, openForCommand, readLocation } from './location.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Try every guarantee that a world needs on a location, and say what is missing.',
  usage: 'LOCATION',
  flags: { all: { type: 'boolean', help: 'Ask for what migration and rollback need too.' } },
  examples: ['bucketstore doctor file:./data', 'bucketstore doctor gs://my-bucket/worlds --json'],
  run: runDoctor,
};

async function runDoctor(context: CommandContext): Promise<number> {
  const { location, rest } = locationArguments(context);
  if (rest.length > 0)
    throw new StoreError('USAGE', `doctor takes one location, got ${rest[0]} too`);
  const bucket = await openForCommand({ ...readLocation(location) });
  try {
    const { signal } = context;
    const report = await probe(bucket, { chance: systemRandom, timing: systemClock, signal });
    context.output.result(report, probeReportLines(report));
    assertUsable(report, isSet(context, 'all') ? 'migrate and rollback' : 'always');
    return 0;
  } catch (error) {
    throw bucketFailure(error);
  } finally {
    await bucket.close();
  }
}
