/**
 * Goal: what is asked of the load spike is what is measured, and what makes no sense is refused in
 * words that say what would.
 * Method: command lines and what they are read as.
 */
import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../spike/arguments.ts';
import { parseLine as parse } from './parse-line.ts';

describe('readArguments()', () => {
  it('gives a memory location without a name one that all stores of the run share', () => {
    const asked = parse('latency memory: --model gcs --seed 7');
    expect(asked).toMatchObject({
      location: 'memory:',
      opened: 'model:memory:spike-7',
      bare: 'memory:spike-7',
      model: 'gcs',
    });
  });

  it('keeps every other location, and reads it back without the model', () => {
    expect(parse('latency memory:mine')).toMatchObject({
      opened: 'memory:mine',
      bare: 'memory:mine',
      model: null,
    });
    expect(parse('latency model:s3://bucket/there?region=r')).toMatchObject({
      opened: 'model:s3://bucket/there?region=r',
      bare: 's3://bucket/there?region=r',
      model: 'gcs',
    });
  });

  it('has defaults for each scenario', () => {
    expect(parse('latency memory:').rate).toBe(200);
    expect(parse('saturation memory:')).toMatchObject({ rate: null, writers: 2_000 });
    expect(parse('contention memory:')).toMatchObject({ rate: null, stores: 3 });
    expect(parse('creates memory:').depth).toBe(32);
    expect(parse('tipcheck memory:').depth).toBe(1);
    expect(parse('latency memory:').inlineBytes).toBeUndefined();
    expect(parse('latency memory:')).toMatchObject({ compact: true, documents: 1_000 });
    expect(parse('gate memory:')).toMatchObject({ rate: 250, seconds: 600, compact: true });
    expect(parse('seed memory:').documents).toBe(100_000);
    expect(parse('coldstart memory:')).toMatchObject({ behind: 64, runs: 5 });
    expect(parse('compact memory:')).toMatchObject({ rate: 250, changes: null });
  });

  it('takes every flag', () => {
    const shared = '--seconds 9 --stores 4 --body-bytes 99 --inline-bytes 0 --batch-max 32';
    const rest = '--documents 8 --deadline-ms 70 --seed 5';
    expect(parse(`contention memory: --rate 60 ${shared} ${rest}`)).toMatchObject({
      ...{ rate: 60, seconds: 9, stores: 4, bodyBytes: 99, inlineBytes: 0, batchMax: 32 },
      ...{ documents: 8, deadlineMs: 70, seed: 5 },
    });
    expect(parse('saturation memory: --writers 5')).toMatchObject({ writers: 5, rate: null });
    expect(parse('creates memory: --ramp --depth 3')).toMatchObject({ ramp: true, depth: 3 });
    expect(parse('gate memory: --no-compact')).toMatchObject({ compact: false, rate: 250 });
    expect(parse('coldstart memory: --behind 0 --runs 2')).toMatchObject({ behind: 0, runs: 2 });
    const changes = 'compact memory: --rate 0 --changes 9 --writers 4';
    expect(parse(changes)).toMatchObject({ rate: null, changes: 9, writers: 4 });
  });

  it('knows the command line that asks for the same again', () => {
    const line = 'latency s3://bucket/c?endpoint=http://h:1&region=r --rate 7 --seconds 6';
    const quoted = line.replace(/s3:\S+/, "'$&'");
    expect(parse(line).command).toBe(`bucketstore spike ${quoted}`);
    for (const line of ['creates memory: --depth 3 --ramp', 'gate memory: --rate 9 --no-compact']) {
      expect(parse(line).command).toBe(`bucketstore spike ${line}`);
    }
  });

  it.each([
    ['speed memory:', /the scenario is "speed", expected one of creates, latency/],
    ['toString memory:', /the scenario is "toString"/],
    ['latency ftp://x', /location "ftp:\/\/x"/],
    ['latency memory: --model s3', /--model is "s3", expected gcs/],
    ['latency memory: --rate fast', /--rate is "fast", expected a whole number of 1/],
    ['latency memory: --rate 1.5', /--rate is "1.5"/],
    ['latency memory: --seconds 5', /--seconds is "5": more than the 5 dropped/],
    ['latency memory: --batch-max 257', /--batch-max is "257".*1 to 256/],
    ['latency memory: --deadline-ms 600001', /--deadline-ms is "600001".*1 to 600000/],
    ['latency memory: --stores 2', /--stores says nothing about latency; only contention/],
    ['saturation memory: --rate 9 --writers 9', /--writers says nothing at a --rate/],
    ['tipcheck memory: --rate 9', /--rate says nothing about tipcheck/],
    ['creates memory: --deadline-ms 9', /--deadline-ms says nothing about creates/],
    ['latency memory: --rate 0', /--rate is "0", expected a whole number of 1/],
    ['seed memory: --body-bytes 16384', /--body-bytes is "16384".*64 to 14336/],
    ['seed memory: --seconds 9', /--seconds says nothing about seed/],
    ['seed memory: --no-compact', /--no-compact says nothing about seed/],
    ['coldstart memory: --documents 9', /--documents says nothing about coldstart/],
    ['compact memory: --writers 9', /--writers says nothing at a --rate/],
    ['latency memory: --ramp', /--ramp says nothing about latency; only creates/],
  ])('refuses "%s"', (line, words) => {
    expect(() => parse(line)).toThrow(words);
  });

  it('drops no second where nothing has to warm up', () => {
    for (const line of ['saturation', 'contention', 'tipcheck', 'creates --ramp']) {
      expect(parse(`${line} memory: --seconds 1`).seconds).toBe(1);
    }
  });

  it('knows every scenario', () => {
    for (const name of Object.keys(SCENARIOS)) {
      expect(parse(`${name} memory:`).scenario).toBe(name);
    }
  });
});
