/**
 * The seeds that every change must pass, in shards that workers share: no seed breaks a rule, and
 * all of them together meet each hard event often enough.
 */
import { describe, expect, test } from 'vitest';
import { Coverage } from './coverage.ts';
import { ACKNOWLEDGED_MIN, drawPlan } from './draw-plan.ts';
import { rareEvents } from './hard-events.ts';
import { replayCommand } from './replay-command.ts';
import { run } from './run.ts';

const SHARDS = 4;
/** Of all shards together. */
const SEEDS = 800;
const SEVERAL_STORES_SHARE = 0.7;
const CHUNKS = 10;
const CHUNK_MS_MAX = 120_000;

/** What a chunk of seeds showed. */
interface Shown {
  readonly coverage: Coverage;
  /** Runs with two stores or more. */
  readonly several: number;
  readonly failures: readonly string[];
}

/** Declares the tests of one shard. @param shard from 1 */
export function testShard(shard: number): void {
  const count = SEEDS / SHARDS / CHUNKS;
  const chunks = Array.from({ length: CHUNKS }, (_, index) => {
    const first = 1 + ((shard - 1) * CHUNKS + index) * count;
    return { first, last: first + count - 1 };
  });
  const shown = new Map<number, Promise<Shown>>();
  const show = (first: number, last: number): Promise<Shown> => {
    const before = shown.get(first) ?? runSeeds(first, last);
    shown.set(first, before);
    return before;
  };
  describe(`shard ${shard} of ${SHARDS}`, () => {
    test.each(chunks)(
      'seeds $first to $last keep every rule',
      async ({ first, last }) => {
        const { failures } = await show(first, last);
        expect(failures.join('\n')).toBe('');
      },
      CHUNK_MS_MAX,
    );

    test(
      'meets its share of every hard event, among several stores',
      async () => {
        const total = new Coverage();
        let several = 0;
        for (const { first, last } of chunks) {
          const chunk = await show(first, last);
          total.merge(chunk.coverage);
          several += chunk.several;
        }
        expect(rareEvents(total, SHARDS)).toEqual([]);
        expect(several).toBeGreaterThanOrEqual(SEVERAL_STORES_SHARE * CHUNKS * count);
      },
      CHUNKS * CHUNK_MS_MAX,
    );
  });
}

async function runSeeds(first: number, last: number): Promise<Shown> {
  const coverage = new Coverage();
  const failures: string[] = [];
  let several = 0;
  for (let seed = first; seed <= last; seed++) {
    const plan = drawPlan(seed);
    const verdict = await run(plan);
    coverage.merge(verdict.coverage);
    if (plan.stores.length > 1) several += 1;
    const [violation] = verdict.violations;
    const { acknowledged } = verdict;
    const problem = violation === undefined ? `${acknowledged} acknowledged` : told(violation);
    if (violation === undefined && acknowledged >= ACKNOWLEDGED_MIN) continue;
    failures.push(`seed ${seed}: ${problem}\n  replay: ${replayCommand(seed)}`);
  }
  return { coverage, several, failures };
}

function told({ rule, detail }: { readonly rule: string; readonly detail: string }): string {
  return `${rule}: ${detail}`;
}
