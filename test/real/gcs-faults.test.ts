import { afterEach, describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { bytesOf, eachOf, patternOf } from '../contract/blob-case.ts';
import type { Emulator } from '../support/gcs-emulator/emulator.ts';
import type { Fault } from '../support/gcs-emulator/faults.ts';
import { closeAll, emulate, openGcs } from '../support/gcs-emulator/open.ts';
import { errorOf } from '../support/outcome.ts';

afterEach(closeAll);

async function pair(): Promise<{ readonly emulator: Emulator; readonly store: BlobStore }> {
  const emulator = await emulate();
  return { emulator, store: openGcs(emulator, { idleBodyMs: 150 }) };
}

describe('create', () => {
  test('of 50 creators of each of 200 names exactly one wins, and is stored', async () => {
    const emulator = await emulate();
    const stores = [openGcs(emulator), openGcs(emulator)];
    const names = Array.from({ length: 200 }, (_, i) => `log/${i}`);
    // One name at a time: 50 connections are enough for a server in the same event loop.
    await eachOf(names, 1, async (name) => {
      const offers = Array.from({ length: 50 }, (_, i) => bytesOf(`${name} by ${i}`));
      const results = await Promise.all(
        offers.map((bytes, i) => (stores[i % 2] as BlobStore).create(name, bytes)),
      );
      const winners = offers.filter((_, i) => results[i]?.outcome === 'created');
      expect(winners).toHaveLength(1);
      expect(emulator.stored(name)).toEqual(Buffer.from(winners[0] ?? []));
    });
    expect(emulator.seen).toHaveLength(50 * names.length);
  });

  // B01: the outcome is open, is said to be open, and nothing has repeated the request.
  const lost: readonly (readonly [string, Fault, string, boolean])[] = [
    ['the answer is lost', { kind: 'drop' }, 'unavailable', true],
    ['503 comes after the commit', { kind: 'status-after', status: 503 }, 'unavailable', true],
    ['500 comes after the commit', { kind: 'status-after', status: 500 }, 'unavailable', true],
    ['502 comes instead', { kind: 'status', status: 502 }, 'unavailable', false],
    ['504 comes after the commit', { kind: 'status-after', status: 504 }, 'unavailable', true],
    ['408 comes instead', { kind: 'status', status: 408 }, 'timeout', false],
    ['429 comes instead', { kind: 'status', status: 429 }, 'throttled', false],
    ['no answer ever comes, committed', { kind: 'silent-after' }, 'timeout', true],
    ['no answer ever comes, not committed', { kind: 'silent' }, 'timeout', false],
    ['the answer stalls', { kind: 'stall', bytes: 20 }, 'timeout', true],
    ['the answer is cut', { kind: 'cut', bytes: 20 }, 'integrity', true],
    ['the answer is reset', { kind: 'reset', bytes: 20 }, 'integrity', true],
    ['the answer is no JSON', { kind: 'body', body: 'ok' }, 'integrity', true],
    ['the answer names nothing', { kind: 'body', body: '{}' }, 'integrity', true],
    ['the answer is no success', { kind: 'status-after', status: 304 }, 'integrity', true],
  ];
  for (const [what, fault, code, stored] of lost) {
    test(`is ambiguous after one request when ${what}`, async () => {
      const { emulator, store } = await pair();
      emulator.fault(fault);
      const error = await errorOf(store.create('log/1', bytesOf('mine'), { deadlineMs: 400 }));
      expect(error).toMatchObject({ code, ambiguous: true, retryable: true, operation: 'create' });
      expect(emulator.seen).toHaveLength(1);
      expect(emulator.stored('log/1') !== undefined).toBe(stored);
      const again = await store.create('log/1', bytesOf('mine'));
      expect(again.outcome).toBe(stored ? 'exists' : 'created');
      await expect.poll(() => emulator.unfinished()).toBe(0);
    });
  }

  test('reports `integrity`, not ambiguous, when the bytes were damaged on the way', async () => {
    const { emulator, store } = await pair();
    emulator.fault({ kind: 'damage' });
    const error = await errorOf(store.create('a', bytesOf('mine')));
    expect(error).toMatchObject({ code: 'integrity', ambiguous: false, retryable: true });
    expect(emulator.stored('a')).toBeUndefined();
  });

  test('reports `integrity` when the service stored damaged bytes and says so', async () => {
    const emulator = await emulate({ broken: ['upload-checksum'] });
    const store = openGcs(emulator);
    emulator.fault({ kind: 'damage' });
    const error = await errorOf(store.create('a', bytesOf('mine')));
    expect(error).toMatchObject({ code: 'integrity', ambiguous: true });
  });

  test('sends bytes that hold the line between the parts of an upload', async () => {
    const { emulator, store } = await pair();
    const bytes = bytesOf('x\r\n--bucketstore-part--\r\nbucketstore-part-0');
    expect((await store.create('a', bytes)).outcome).toBe('created');
    expect(emulator.stored('a')).toEqual(Buffer.from(bytes));
  });

  // B03
  test('reports 429 of the soft limit as `throttled` and ambiguous', async () => {
    let now = 1_700_000_000_000;
    const emulator = await emulate({ softLimit: true, now: () => now });
    const store = openGcs(emulator);
    expect((await store.create('a', bytesOf('1'))).outcome).toBe('created');
    const error = await errorOf(store.create('a', bytesOf('2')));
    expect(error).toMatchObject({ code: 'throttled', ambiguous: true, date: now });
    expect((await store.create('b', bytesOf('3'))).outcome).toBe('created');
    now += 1000;
    expect((await store.create('a', bytesOf('4'))).outcome).toBe('exists');
  });

  test('passes on how long the service asks to wait', async () => {
    const { emulator, store } = await pair();
    emulator.fault({ kind: 'status', status: 429, headers: { 'Retry-After': '7' } });
    expect((await errorOf(store.create('a', bytesOf('1')))).retryAfterMs).toBe(7000);
  });

  // B07
  test('40 creates behind one that is never answered settle before it', async () => {
    const { emulator, store } = await pair();
    emulator.fault({ kind: 'silent-after' });
    const dead = errorOf(store.create('dead', bytesOf('x'), { deadlineMs: 1500, lane: 'commit' }));
    await expect.poll(() => emulator.seen.length).toBe(1);
    const others = Array.from({ length: 40 }, (_, i) =>
      store.create(`live/${i}`, bytesOf('x'), { lane: 'commit' }),
    );
    const first = await Promise.race([Promise.all(others), dead]);
    expect(first).toHaveLength(40);
    expect(await dead).toMatchObject({ code: 'timeout', ambiguous: true });
  });

  test('`close()` does not wait for a create that is never answered', async () => {
    const { emulator, store } = await pair();
    emulator.fault({ kind: 'silent' });
    const dead = errorOf(store.create('dead', bytesOf('x')));
    await expect.poll(() => emulator.seen.length).toBe(1);
    await store.close();
    expect(await dead).toMatchObject({ code: 'aborted', ambiguous: true });
    await expect.poll(() => emulator.connections()).toBe(0);
    expect(await errorOf(store.head('a'))).toMatchObject({ code: 'invalid' });
  });

  test('that is aborted after it was sent is ambiguous and keeps the reason', async () => {
    const { emulator, store } = await pair();
    emulator.fault({ kind: 'silent' });
    const caller = new AbortController();
    const dead = errorOf(store.create('dead', bytesOf('x'), { signal: caller.signal }));
    await expect.poll(() => emulator.seen.length).toBe(1);
    const reason = new Error('enough');
    caller.abort(reason);
    expect(await dead).toMatchObject({ code: 'aborted', ambiguous: true, cause: reason });
    await expect.poll(() => emulator.connections()).toBe(0);
  });
});

describe('replace and delete', () => {
  test('a lost answer is ambiguous after one request', async () => {
    const { emulator, store } = await pair();
    await store.create('a', bytesOf('1'));
    const head = await store.head('a');
    const generation = head.found ? head.attributes.generation : '';
    for (const call of [
      () => store.replace('a', generation, bytesOf('2')),
      () => store.delete('a'),
    ]) {
      const before = emulator.seen.length;
      emulator.fault({ kind: 'drop' });
      expect(await errorOf(call())).toMatchObject({ code: 'unavailable', ambiguous: true });
      expect(emulator.seen.length - before).toBe(1);
    }
    expect(emulator.stored('a')).toBeUndefined();
  });

  test('a generation that is none is refused before it is sent', async () => {
    const { emulator, store } = await pair();
    for (const generation of ['0', 'abc', '-1', '1 ']) {
      const error = await errorOf(store.replace('a', generation, bytesOf('2')));
      expect(error.code).toBe('invalid');
    }
    expect(emulator.seen).toHaveLength(0);
  });
});

describe('reads', () => {
  // B06: three ways in which a body does not arrive, on each kind of read.
  const broken: readonly (readonly [string, Fault, string])[] = [
    ['stalls', { kind: 'stall', bytes: 40 }, 'timeout'],
    ['is cut', { kind: 'cut', bytes: 40 }, 'integrity'],
    ['is reset', { kind: 'reset', bytes: 40 }, 'integrity'],
    ['is one byte short', { kind: 'cut', bytes: -1 }, 'integrity'],
  ];
  for (const [what, fault, code] of broken) {
    test(`a body that ${what} is an error, never an object or a page`, async () => {
      const { emulator, store } = await pair();
      await store.create('a', patternOf(20_480, 1));
      const calls = {
        whole: () => store.get('a'),
        range: () => store.get('a', { range: [100, 20_000] }),
        head: () => store.head('a'),
        list: () => store.list({ prefix: '', limit: 10 }),
      };
      for (const [name, call] of Object.entries(calls)) {
        emulator.fault(fault);
        const error = await errorOf(call());
        expect(error, name).toMatchObject({ code, retryable: true, ambiguous: false });
        expect(error.date, name).toBeTypeOf('number');
        await call();
      }
      await expect.poll(() => emulator.unfinished()).toBe(0);
    });
  }

  test('an answer with other bytes than the checksum, or none, is `integrity`', async () => {
    const emulator = await emulate({ broken: ['download-checksum'] });
    const store = openGcs(emulator);
    await store.create('a', bytesOf('x'));
    expect(await errorOf(store.get('a'))).toMatchObject({ code: 'integrity', ambiguous: false });
  });

  test('an ignored range is `integrity`', async () => {
    const emulator = await emulate({ broken: ['range'] });
    const store = openGcs(emulator);
    await store.create('a', bytesOf('0123456789'));
    const error = await errorOf(store.get('a', { range: [2, 4] }));
    expect(error).toMatchObject({ code: 'integrity' });
  });

  test('304, 412 and redirects, which nobody asked for, are `integrity`', async () => {
    const { emulator, store } = await pair();
    await store.create('a', bytesOf('x'));
    for (const status of [304, 412, 302, 204]) {
      emulator.fault({ kind: 'status', status, headers: { Location: emulator.endpoint } });
      expect(await errorOf(store.get('a')), `${status}`).toMatchObject({ code: 'integrity' });
    }
    expect(emulator.seen).toHaveLength(5);
  });

  test('every result and error has the date of the service', async () => {
    const now = 1_600_000_000_000;
    const store = openGcs(await emulate({ now: () => now }));
    const created = await store.create('a', bytesOf('x'));
    const head = await store.head('a');
    const generation = head.found ? head.attributes.generation : '';
    const results = [
      created,
      head,
      await store.create('a', bytesOf('y')),
      await store.get('a'),
      await store.get('a', { range: [0, 1] }),
      await store.get('a', { range: [5, 6] }),
      await store.get('absent'),
      await store.head('absent'),
      await store.list({ prefix: '', limit: 1 }),
      await store.replace('a', generation, bytesOf('z')),
      await store.replace('a', generation, bytesOf('z')),
      await store.delete('a'),
      await store.delete('a'),
    ];
    expect(results.map(({ date }) => date)).toEqual(results.map(() => now));
  });
});

describe('sockets', () => {
  // B05 (a)
  test('200 calls that end early, in every way, leave no socket behind', async () => {
    const { emulator } = await pair();
    const store = openGcs(emulator, { maxSockets: 20, idleBodyMs: 100 });
    await store.create('a', patternOf(300_000, 1));
    const reason = new Error('enough');
    const faulty = (fault: Fault, call: () => Promise<unknown>): Promise<unknown> => {
      emulator.fault(fault);
      return errorOf(call());
    };
    const ways: readonly (() => Promise<unknown>)[] = [
      () => store.get('absent'),
      () => store.create('a', bytesOf('x')),
      () => faulty({ kind: 'status', status: 304 }, () => store.get('a')),
      () => faulty({ kind: 'status', status: 503 }, () => store.head('a')),
      () => faulty({ kind: 'cut', bytes: 1000 }, () => store.get('a')),
      () => faulty({ kind: 'stall', bytes: 1000 }, () => store.get('a')),
      () => store.get('a', { range: [0, 100] }),
      async () => {
        const caller = new AbortController();
        const call = store.get('a', { signal: caller.signal });
        setImmediate(() => caller.abort(reason));
        return call.catch(() => {});
      },
    ];
    await eachOf(
      Array.from({ length: 200 }, (_, i) => i),
      16,
      async (i) => {
        await (ways[i % ways.length] as () => Promise<unknown>)().catch(() => {});
      },
    );
    emulator.clearFaults();
    await expect.poll(() => emulator.unfinished()).toBe(0);
    expect(emulator.connections()).toBeLessThanOrEqual(20);
    expect((await store.get('a')).found).toBe(true);
    await store.close();
    await expect.poll(() => emulator.connections()).toBe(0);
  });

  // B05 (b)
  test('commit traffic does not wait behind bulk reads without a socket', async () => {
    const emulator = await emulate();
    const store = openGcs(emulator, { maxSockets: 2 });
    await store.create('a', bytesOf('x'));
    emulator.fault({ kind: 'silent', method: 'GET', times: 2 });
    const caller = new AbortController();
    const bulk = Array.from({ length: 6 }, () =>
      errorOf(store.get('a', { lane: 'bulk', signal: caller.signal })),
    );
    await expect.poll(() => emulator.unfinished()).toBe(2);
    expect((await store.create('b', bytesOf('x'), { lane: 'commit' })).outcome).toBe('created');
    expect((await store.get('b')).found).toBe(true);
    caller.abort();
    for (const error of await Promise.all(bulk)) expect(error.code).toBe('aborted');
  });

  test('a create that never got a socket is not ambiguous', async () => {
    const emulator = await emulate();
    const store = openGcs(emulator, { maxSockets: 1 });
    emulator.fault({ kind: 'silent' });
    const first = errorOf(store.create('a', bytesOf('x'), { deadlineMs: 600 }));
    await expect.poll(() => emulator.seen.length).toBe(1);
    const second = await errorOf(store.create('b', bytesOf('x'), { deadlineMs: 100 }));
    expect(second).toMatchObject({ code: 'timeout', ambiguous: false });
    expect(await first).toMatchObject({ code: 'timeout', ambiguous: true });
  });
});
