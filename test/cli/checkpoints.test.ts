/**
 * Goal: `stat` and `verify` tell of the checkpoints of a world what is there, and what is wrong.
 * Method: a world with checkpoints; what is told is held against the objects in its bucket.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { VerifyReport, WorldFacts } from '../../bucketstore/index.ts';
import { sumOf } from '../../checkpoint/unused.ts';
import { VerifyBench } from '../checkpoint/verify-world.ts';
import { commandRunner } from './run-command.ts';

const world = new VerifyBench(8, { paths: 80, batch: 200, hot: 20 });
await world.checkpoints([700, 1900]);
await world.log.writeTo(2300);
await world.save();
const { bench, log } = world;
const { runCommand, runJson } = commandRunner();
const options = { components: { clock: bench.clock, bucket: bench.bucket } };
const records = await world.records();
const newest = records.at(-1) ?? '';
const root = await world.root(newest);

afterEach(() => world.restore());

async function bytesOf(keys: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const key of keys) bytes += (await bench.bytes(key)).byteLength;
  return bytes;
}

describe('stat', () => {
  it('tells of the newest checkpoint and of what lies behind it', async () => {
    const facts = await runJson<WorldFacts>(['stat', 'memory:'], options);
    const { sequence, documents } = await world.record(newest);
    const { tip, documentCount, identity } = log.state;
    expect(facts).toMatchObject({
      ...{ ...identity, sequence: tip.sequence, documents: documentCount, epoch: 1, floor: 2 },
      sealed: false,
      checkpoints: {
        there: records.length,
        newest: { sequence, epoch: 1, documents },
        skipped: [],
      },
      packedThrough: root.packed_through,
    });
    const behind = (await bench.slots()).filter(({ first }) => first > sequence);
    expect(facts.behind).toMatchObject({
      slots: behind.length,
      mutations: tip.sequence - sequence,
    });
    expect(facts.behind.bytes).toBeGreaterThan(behind.length * 1000);
    for (const [runs, said] of [
      [root.runs, facts.runs],
      [root.records, facts.records],
    ] as const) {
      expect(said.map(({ after, through }) => [after, through])).toEqual(
        runs.map(({ after, through }) => [after, through]),
      );
    }
    expect(facts.runs.reduce((sum, { entries }) => sum + entries, 0)).toBeGreaterThan(documents);
    expect(facts.packs.objects).toBe(root.packs.length);
  });

  it('says how many bytes are derived for each that is needed, and held in memory', async () => {
    const facts = await runJson<WorldFacts>(['stat', 'memory:'], options);
    const kinds = ['record', 'root', 'run', 'segment', 'versions', 'history', 'pack'] as const;
    const keys = await world.derived(...kinds);
    expect(sumOf(facts.derived).objects).toBe(keys.length);
    expect(facts.derivedBytes).toBe(await bytesOf(keys));
    const tables = [...facts.runs, ...facts.records].reduce((sum, { bytes }) => sum + bytes, 0);
    expect(facts.liveBytes).toBeLessThan(tables + facts.packs.bytes + facts.derived.history.bytes);
    expect(facts.liveBytes).toBeGreaterThan(facts.packs.bytes);
    expect(facts.amplification).toBe(facts.derivedBytes / facts.liveBytes);
    const { bytes, perDocument } = facts.memory;
    expect(perDocument).toBe(bytes / (await world.record(newest)).documents);
    expect(bytes).toBeGreaterThan(0);
  });

  it('says it in words, one line for each run', async () => {
    const { out, exit } = await runCommand(['stat', 'memory:'], options);
    expect(exit).toBe(0);
    expect(out).toMatch(/^checkpoints {2}2, newest at sequence \d+$/m);
    expect(out).toMatch(/^behind {7}\d+ slots, \d+ mutations, \d+ kB$/m);
    for (const { after, through } of [...root.runs, ...root.records]) {
      expect(out).toContain(`  (${after}, ${through}]: `);
    }
    expect(out).toMatch(/^amplified {4}\d\.\d\d \(\d+ kB derived, \d+ kB needed\)$/m);
    expect(out).toMatch(/^memory {7}\d+ kB, \d+ a document$/m);
  });

  it('names a checkpoint that cannot be used, and tells of the one before', async () => {
    await bench.put(newest, 'nothing');
    const { checkpoints } = await runJson<WorldFacts>(['stat', 'memory:'], options);
    const { sequence } = await world.record(records[0] ?? '');
    expect(checkpoints).toMatchObject({ newest: { sequence }, skipped: [newest] });
    const { out } = await runCommand(['stat', 'memory:'], options);
    expect(out).toContain(`  not usable: ${newest} (bucketstore verify says why)`);
  });

  it('names a checkpoint of another life, which cannot be used either', async () => {
    const incarnationId = '55555555-5555-4555-8555-555555555555';
    await world.forgeRecord(newest, { incarnationId });
    const { checkpoints } = await runJson<WorldFacts>(['stat', 'memory:'], options);
    const { sequence } = await world.record(records[0] ?? '');
    expect(checkpoints).toMatchObject({ newest: { sequence }, skipped: [newest] });
  });

  it('tells of a world without a checkpoint, too', async () => {
    for (const key of records) await bench.bucket.delete(key);
    const { checkpoints, amplification, behind, memory } = await runJson<WorldFacts>(
      ['stat', 'memory:'],
      options,
    );
    expect(checkpoints).toEqual({ there: 0, newest: null, skipped: [] });
    expect(amplification).toBeNull();
    expect(memory).toEqual({ bytes: 0, perDocument: null });
    expect(behind.mutations).toBe(log.state.tip.sequence - 1);
    const { out } = await runCommand(['stat', 'memory:'], options);
    expect(out).toContain('checkpoints  0, none');
    expect(out).not.toContain('amplified');
  });
});

describe('verify', () => {
  it('counts checkpoints and their objects, and what is not used', async () => {
    const report = await runJson<VerifyReport>(['verify', 'memory:'], options);
    expect(report).toMatchObject({ problems: [], checkpoints: records.length });
    const { out, exit } = await runCommand(['verify', 'memory:', '--deep'], options);
    expect(exit).toBe(0);
    expect(out).toContain(`; ${records.length} checkpoints, ${report.objects} objects\n`);
    expect(out).not.toContain('unused');
    expect(out).toContain('\nall is as it must be\n');
    await bench.put(`_demarkus/v1/packs/00000001/${'0'.repeat(64)}`, 'x');
    const orphan = await runCommand(['verify', 'memory:', '--deep'], options);
    expect(orphan.exit).toBe(0);
    expect(orphan.out).toContain('\nunused: 1 packs, 1 kB\n');
  });

  it('names a damaged object, ends with 6, and says what that means', async () => {
    const [pack = ''] = await world.derived('pack');
    await bench.bucket.delete(pack);
    const { out, exit } = await runCommand(['verify', 'memory:'], options);
    expect(exit).toBe(6);
    expect(out).toContain(`wrong: ${pack}: missing, and a checkpoint names it\n`);
    expect(out).toContain(
      '1 of these are derived from the log: while that is whole nothing is lost',
    );
  });
});

describe('stat behind a barrier', () => {
  it('tells of the newest checkpoint that counts', async () => {
    const { sequence } = await world.record(records[0] ?? '');
    await log.control({
      ...{ kind: 'barrier', op: '44444444-4444-4444-8444-444444444444', plan: 'a'.repeat(64) },
      kept: [[sequence, 1]],
    });
    const facts = await runJson<WorldFacts>(['stat', 'memory:'], options);
    expect(facts).toMatchObject({ epoch: 2, sequence: log.state.tip.sequence });
    const { there, newest: found, skipped } = facts.checkpoints;
    expect(found?.sequence).toBe(sequence);
    expect({ there, skipped }).toEqual({ there: records.length, skipped: [] });
    expect(facts.behind.mutations).toBe(log.state.tip.sequence - 1 - sequence);
  });
});
