/** Help, made from what the commands say of themselves. Pure. */
import type { Command } from './command.ts';

const LOCATIONS = [
  'Locations:',
  '  file:PATH                a directory on this machine',
  '  gs://BUCKET[/PREFIX]     Google Cloud Storage',
  '  s3://BUCKET[/PREFIX]     S3 and servers that speak it (?endpoint=URL&region=R)',
  '  memory:                  this process only',
  '',
  'BUCKETSTORE_LOCATION or --location may stand in for the location.',
];

const EXITS = [
  'Exit status: 0 done, 1 refused, 2 usage, 3 not found, 4 outcome unknown, 5 location,',
  '  6 integrity, 7 try again later, 130 interrupted.',
];

/** Help of the program as a whole. */
export function programHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'bucketstore: a versioned document store whose only state is a bucket',
    '',
    'Usage: bucketstore COMMAND [LOCATION] [ARGUMENTS] [--json]',
    '',
    'Commands:',
    ...list,
    '',
    ...LOCATIONS,
    '',
    ...EXITS,
    '',
    'bucketstore COMMAND --help says more.',
  ].join('\n');
}

/** Help of one command. */
export function commandHelp({ name, summary, usage, flags, examples, notes }: Command): string {
  const all: Command['flags'] = {
    ...flags,
    location: {
      type: 'string',
      value: 'LOCATION',
      help: 'The location, in the place of the first argument.',
    },
    json: { type: 'boolean', help: 'JSON for programs, one object a line.' },
    help: { type: 'boolean', help: 'This text.' },
  };
  const rows = Object.entries(all).map(([flag, { value, type, help }]) => {
    return [`--${flag}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`, help] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    summary,
    '',
    `Usage: bucketstore ${name} ${usage}`,
    '',
    'Flags:',
    ...rows.map(([left, help]) => `  ${left.padEnd(width)}  ${help}`),
    ...(notes === undefined ? [] : ['', ...notes]),
    '',
    'Examples:',
    ...examples.map((example) => `  ${example}`),
  ].join('\n');
}
