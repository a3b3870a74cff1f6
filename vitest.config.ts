import { defineConfig } from 'vitest/config';
import { LOADED } from './test/sim/mutants/list.ts';
import { mutantsPlugin } from './test/sim/mutants/plugin.ts';

// Four projects: `tidy` checks the shape of the code; `quick` and `unit` are deterministic (no
// ports, no child processes, no real time); `real` is what needs processes, sockets and servers.

// CommonJS packages look in tests as they look in Node: their default is what they export.
const deps = { interopDefault: false };

/** Small tests of one module each, many files of them; none puts another in a module's place. */
const QUICK = ['base', 'blob', 'cli', 'document', 'log', 'oracle', 'spike'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    // The simulation's shards keep every core busy; by default one is left idle.
    maxWorkers: '100%',
    projects: [
      { test: { name: 'tidy', deps, include: ['test/tidy.test.ts', 'test/package.test.ts'] } },
      {
        test: {
          name: 'quick',
          deps,
          include: QUICK,
          // Nothing of the module level changes, so these files share their modules. Not the
          // others: they collect garbage to see what is held, and a heap that all share is large.
          testTimeout: 60_000,
          isolate: false,
        },
      },
      {
        // The simulation imports the store with other sizes, or a rule broken: `?mutant=NAME`.
        plugins: [mutantsPlugin(import.meta.dirname, LOADED)],
        test: {
          name: 'unit',
          deps,
          include: ['test/**/*.test.ts'],
          exclude: ['test/tidy.test.ts', 'test/package.test.ts', 'test/real/**', ...QUICK],
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
