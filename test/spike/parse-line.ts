/** A command line of the spike, read as the program reads it. */
import { parseArgs } from 'node:util';
import { spike } from '../../bucketstore/cli/spike.ts';
import {
  readArguments,
  type SpikeArguments,
  type SpikeFlag,
  type SpikeSwitch,
} from '../../spike/arguments.ts';

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
  const texts = Object.entries(values).filter(([, value]) => typeof value === 'string');
  const flags = Object.fromEntries(texts) as Partial<Record<SpikeFlag, string>>;
  const given = Object.entries(values).filter(([, value]) => value === true);
  const switches = given.map(([name]) => name) as SpikeSwitch[];
  return readArguments({ scenario, location, flags, switches });
}
