// Goal: every call of the GCS driver ends in time, with its caller, or with its bucket, and leaves
// no timer.
// Method: answers from a script that also stays silent, without a port; time is a manual clock.
import { describe, expect, test } from 'vitest';
import { bytesOf } from '../contract/blob-case.ts';
import { reply, setUp } from '../support/gcs-script.ts';
import { drain } from '../support/manual-clock.ts';
import { errorOf } from '../support/outcome.ts';

describe('limits', () => {
  test('a call ends at its deadline, ambiguous for a write, its timer gone', async () => {
    const run = setUp(['silent', 'silent']);
    const write = errorOf(run.store.create('k', bytesOf('x')));
    const read = errorOf(run.store.get('k', { deadlineMs: 50 }));
    await drain();
    await run.clock.advance(50);
    expect(await read).toMatchObject({ code: 'timeout', ambiguous: false });
    await run.clock.advance(9_950);
    expect(await write).toMatchObject({ code: 'timeout', ambiguous: true });
    expect(run.clock.sleeping).toBe(0);
  });

  test('a token that never comes ends at the deadline, and nothing was sent', async () => {
    const run = setUp([], 'never');
    const write = errorOf(run.store.create('k', bytesOf('x')));
    await drain();
    await run.clock.advance(10_000);
    expect(await write).toMatchObject({ code: 'timeout', ambiguous: false });
  });

  test('the deadline spans all requests of a call', async () => {
    const run = setUp([reply(404), 'silent']);
    const read = errorOf(run.store.get('k', { deadlineMs: 100 }));
    await drain();
    await run.clock.advance(100);
    expect(await read).toMatchObject({ code: 'timeout', operation: 'get' });
  });

  test('an abort keeps its reason; it is ambiguous only for a write that was sent', async () => {
    const run = setUp(['silent']);
    const caller = new AbortController();
    const write = errorOf(run.store.create('k', bytesOf('x'), { signal: caller.signal }));
    await drain();
    const reason = new Error('enough');
    caller.abort(reason);
    expect(await write).toMatchObject({ code: 'aborted', ambiguous: true, cause: reason });
    expect(run.clock.sleeping).toBe(0);
  });

  test('`close()` ends what runs as `aborted` and refuses what comes', async () => {
    const run = setUp(['silent']);
    const write = errorOf(run.store.create('k', bytesOf('x')));
    await drain();
    await run.store.close();
    await run.store.close();
    expect(await write).toMatchObject({ code: 'aborted', ambiguous: true });
    expect((await errorOf(run.store.get('k'))).code).toBe('invalid');
  });
});
