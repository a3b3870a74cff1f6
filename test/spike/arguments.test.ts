/**
 * Goal: what is asked of the load spike is what is measured, and what makes no sense is refused in
 * words that say what would.
 * Method: command lines and what they are read as.
 */
import { describe, expect, it } from 'vitest';
import { parseArguments, SCENARIOS } from '../../spike/arguments.ts';

const parse = (line: string) => parseArguments(line.split(' '));

describe('parseArguments()', () => {
  it('gives a memory location without a name one that all stores of the run share', () => {
    const asked = parse('latency --location memory: --model gcs --seed 7');
    expect(asked).toMatchObject({
      location: 'memory:',
      opened: 'model:memory:spike-7',
      bare: 'memory:spike-7',
      model: 'gcs',
    });
  });

  it('keeps every other location, and reads it back without the model', () => {
    expect(parse('latency --location memory:mine')).toMatchObject({
      opened: 'memory:mine',
      bare: 'memory:mine',
      model: null,
    });
    expect(parse('latency --location model:s3://bucket/there?region=r')).toMatchObject({
      opened: 'model:s3://bucket/there?region=r',
      bare: 's3://bucket/there?region=r',
      model: 'gcs',
    });
  });

  it('has defaults for each scenario', () => {
    expect(parse('latency --location memory:').rate).toBe(200);
    expect(parse('saturation --location memory:')).toMatchObject({ rate: null, writers: 2_000 });
    expect(parse('contention --location memory:')).toMatchObject({ rate: null, stores: 3 });
    expect(parse('creates --location memory:').depth).toBe(32);
    expect(parse('tipcheck --location memory:').depth).toBe(1);
    expect(parse('latency --location memory:').inlineBytes).toBeUndefined();
  });

  it('takes every flag', () => {
    const flags =
      '--rate 60 --seconds 9 --stores 4 --writers 5 --body-bytes 99 --inline-bytes 0 ' +
      '--batch-max 32 --documents 8 --json a.json --html a.html';
    expect(parse(`contention --location memory: ${flags}`)).toMatchObject({
      ...{ rate: 60, seconds: 9, stores: 4, writers: 5, bodyBytes: 99, inlineBytes: 0 },
      ...{ batchMax: 32, documents: 8, json: 'a.json', html: 'a.html' },
    });
    expect(parse('creates --location memory: --ramp --depth 3')).toMatchObject({
      ...{ ramp: true, depth: 3 },
    });
  });

  it.each([
    ['', /the scenario is "", expected one of creates, latency/],
    ['speed --location memory:', /the scenario is "speed"/],
    ['toString --location memory:', /the scenario is "toString"/],
    ['latency saturation --location memory:', /got also "saturation"/],
    ['latency', /--location is missing/],
    ['latency --location ftp://x', /location "ftp:\/\/x"/],
    ['latency --location memory: --model s3', /--model is "s3", expected gcs/],
    ['latency --location memory: --rate fast', /--rate is "fast", expected a whole number of 1/],
    ['latency --location memory: --rate 1.5', /--rate is "1.5"/],
    ['latency --location memory: --seconds 5', /--seconds is "5": more than the 5 dropped/],
    ['latency --location memory: --batch-max 257', /--batch-max is "257".*1 to 256/],
    ['latency --location memory: --stores 2', /--stores says nothing about latency; only cont/],
    ['saturation --location memory: --rate 9', /--rate says nothing about saturation/],
    ['latency --location memory: --ramp', /--ramp says nothing about latency; only creates/],
    ['latency --location memory: --speed 9', /--speed/],
  ])('refuses "%s"', (line, words) => {
    expect(() => parseArguments(line === '' ? [] : line.split(' '))).toThrow(words);
  });

  it('drops no second where nothing has to warm up', () => {
    for (const line of ['saturation', 'contention', 'tipcheck', 'creates --ramp']) {
      expect(parse(`${line} --location memory: --seconds 1`).seconds).toBe(1);
    }
  });

  it('knows every scenario', () => {
    for (const name of Object.keys(SCENARIOS)) {
      expect(parse(`${name} --location memory:`).scenario).toBe(name);
    }
  });
});
