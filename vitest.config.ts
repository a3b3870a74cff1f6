import { defineConfig } from 'vitest/config';
import { LOADED } from './test/sim/mutants/list.ts';
import { mutantsPlugin } from './test/sim/mutants/plugin.ts';

// Three projects: `tidy` checks the shape of the code, `unit` is deterministic (no ports, no child
// processes, no real time), `real` is everything that needs processes, sockets and servers.

// CommonJS packages look in tests as they look in Node: their default is what they export.
const deps = { interopDefault: false };

export default defineConfig({
  test: {
    // The simulation's shards keep every core busy; by default one is left idle.
    maxWorkers: '100%',
    projects: [
      { test: { name: 'tidy', deps, include: ['test/tidy.test.ts', 'test/package.test.ts'] } },
      {
        // The simulation imports the store with other sizes, or a rule broken: `?mutant=NAME`.
        plugins: [mutantsPlugin(import.meta.dirname, LOADED)],
        test: {
          name: 'unit',
          deps,
          include: ['test/**/*.test.ts'],
          exclude: ['test/tidy.test.ts', 'test/package.test.ts', 'test/real/**'],
          testTimeout: 60_000,
          // Simulated runs make much garbage that dies young.
          execArgv: ['--max-semi-space-size=64'],
        },
      },
      {
        test: {
          name: 'real',
          deps,
          include: ['test/real/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
