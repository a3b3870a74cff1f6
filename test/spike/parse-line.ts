/** A command line of the spike, read as the program reads it. */
import { parseArgs } from 'node:util';
import { spike } from '../../bucketstore/cli/spike.ts';
import { readArguments, type SpikeArguments, type SpikeFlag } from '../../spike/arguments.ts';

/** @param line `SCENARIO LOCATION`, and flags */
export function parseLine(line: string): SpikeArguments {
  const { values, positionals } = parseArgs({
    args: line.split(' '),
    options: Object.fromEntries(
      Object.entries(spike.flags).map(([name, { type }]) => [name, { type }] as const),
    ),
    allowPositionals: true,
  });
  const [scenario = '', location = ''] = positionals;
  const { ramp = false, ...rest } = values;
  const texts = Object.entries(rest).filter(([, value]) => typeof value === 'string');
  const flags = Object.fromEntries(texts) as Partial<Record<SpikeFlag, string>>;
  return readArguments({ scenario, location, flags, ramp: ramp === true });
}
