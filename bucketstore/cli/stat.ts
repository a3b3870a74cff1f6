/** `bucketstore stat`: what a world, or a document, is now. */
import { type RunStat, statWorld, type WorldFacts } from '../stat.ts';
import type { World } from '../world.ts';
import { byteText } from './byte-text.ts';
import type { Command, CommandContext } from './command.ts';
import { readLocation } from './location.ts';
import { isSchema1, refuseDocument, statOld } from './schema1.ts';
import { infoLines, withWorld, worldArguments } from './world.ts';
import { assertWorldId, WORLD_ID_FLAG } from './world-id.ts';

export const stat: Command = {
  name: 'stat',
  summary: 'Show what a world is now, or a document without its body.',
  usage: 'LOCATION [PATH] [--world-id UUID]',
  flags: { 'world-id': WORLD_ID_FLAG },
  notes: [
    'Of a world: its newest checkpoint run by run, what lies behind it in the log, what is derived',
    'in the bucket for each byte that is needed (amplification), and what it holds in memory.',
    'Of a world in the old format (schema 1): its size, and what moving it would take.',
  ],
  examples: ['bucketstore stat file:./data', 'bucketstore stat file:./data /notes/a.md --json'],
  run: runStat,
};

async function runStat(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, '[PATH]');
  const [path] = rest;
  try {
    await assertWorldId(context, location);
    await (path === undefined ? statAll(context, location) : statDocument(context, location, path));
    return 0;
  } catch (error) {
    if (!isSchema1(error)) throw error;
    if (path !== undefined) throw refuseDocument(location);
    return statOld(context, location);
  }
}

async function statAll(context: CommandContext, location: string): Promise<void> {
  const { signal, output, components } = context;
  readLocation(location);
  const facts = await statWorld(location, { components, signal });
  output.result(facts, worldLines(facts));
}

async function statDocument(
  context: CommandContext,
  location: string,
  path: string,
): Promise<void> {
  const { signal, output } = context;
  const show = async (world: World): Promise<void> => {
    await using view = world.view();
    const info = await view.stat(path, { signal });
    output.result(info, infoLines(info));
  };
  await withWorld(context, location, show, { early: true });
}

function worldLines(facts: WorldFacts): readonly string[] {
  const { checkpoints, behind } = facts;
  const { newest, there, skipped } = checkpoints;
  const at = newest === null ? 'none' : `newest at sequence ${newest.sequence}`;
  return [
    `world        ${facts.worldId}`,
    `incarnation  ${facts.incarnationId}`,
    `sequence     ${facts.sequence}`,
    `documents    ${facts.documents} (archived ones included)`,
    `epoch        ${facts.epoch}`,
    `log kept     from sequence ${facts.floor}`,
    ...(facts.sealed ? ['sealed       no write is taken any more'] : []),
    `checkpoints  ${there}, ${at}`,
    ...skipped.map((key) => `  not usable: ${key} (bucketstore verify says why)`),
    `behind       ${behind.slots} slots, ${behind.mutations} mutations, ${byteText(behind.bytes)}`,
    ...costLines(facts),
  ];
}

function costLines(facts: WorldFacts): readonly string[] {
  const { runs, records, packs, packedThrough, amplification, memory } = facts;
  if (amplification === null) return [];
  const each = memory.perDocument === null ? '' : `, ${Math.round(memory.perDocument)} a document`;
  const ratio = `${amplification.toFixed(2)} (${byteText(facts.derivedBytes)} derived`;
  return [
    `runs         ${runs.length}`,
    ...runs.map((run) => runLine(run, 'documents')),
    `record runs  ${records.length}`,
    ...records.map((run) => runLine(run, 'documents with versions')),
    `packs        ${packs.objects}, ${byteText(packs.bytes)}, through sequence ${packedThrough}`,
    `amplified    ${ratio}, ${byteText(facts.liveBytes)} needed)`,
    `memory       ${byteText(memory.bytes)}${each}`,
  ];
}

function runLine({ after, through, entries, tables, bytes }: RunStat, what: string): string {
  return `  (${after}, ${through}]: ${entries} ${what}, ${tables} tables, ${byteText(bytes)}`;
}
