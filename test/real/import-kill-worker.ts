// A process of `import-kill.test.ts`: imports FOLDER into the world in DIRECTORY, writes each file
// whose commit was acknowledged to standard output at once, and kills itself the NTH time it
// reaches POINT.
//   import-kill-worker.ts DIRECTORY FOLDER [POINT NTH]

import { writeSync } from 'node:fs';
import type { BlobStore } from '../../blob/blob.ts';
import { decorate } from '../../blob/decorate.ts';
import { createFileBucket } from '../../blob/file.ts';
import { nodeFileSystem } from '../../blob/file-system.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { importFiles } from '../../bucketstore/cli/importer.ts';
import { readMarkdownFiles } from '../../bucketstore/cli/markdown-files.ts';
import { openWorld } from '../../bucketstore/index.ts';
import { hookedFileSystem } from '../support/faulty-file-system.ts';

const [directory = '', folder = '', point = '', nth = '0'] = process.argv.slice(2);

let armed = false;
let met = 0;
let staged = false;
let linked = false;

/** Ends this process without a word when it is the time. */
function reach(here: string): void {
  if (!armed || here !== point || ++met < Number(nth)) return;
  process.kill(process.pid, 'SIGKILL');
}

const isSlot = (path: string): boolean => path.includes('/log/');

const fs = hookedFileSystem(nodeFileSystem, {
  before: ({ name, path }) => {
    if (name === 'link' && isSlot(path)) reach('during the create of a slot');
    if (name === 'unlink' && path.includes('/new~') && linked) reach('during its cleanup');
  },
  after: ({ name, path }) => {
    if (name !== 'link' || !isSlot(path)) return;
    linked = true;
    reach('between its create and the answer');
  },
});

function watched(store: BlobStore): BlobStore {
  return decorate(store, async (call, send) => {
    if (call.operation !== 'create') return send();
    const slot = isSlot(call.key);
    // Bodies are staged ahead: some since the last slot are enough.
    if (slot && staged) reach('between stage and slot');
    if (!slot) reach('before a body is staged');
    if (slot) staged = false;
    linked = false;
    const result = await send();
    if (!slot) staged = true;
    return result;
  });
}

const bucket = watched(
  createFileBucket({
    directory,
    timing: systemClock,
    chance: systemRandom,
    createDirectory: true,
    fs,
  }),
);
const settings = { inlineBytes: 1024, batchMax: 8 };
const world = await openWorld('file:', { create: true, settings, components: { bucket } });
armed = true;
const parts = {
  world,
  clock: systemClock,
  random: systemRandom,
  under: '/',
  onOutcome: ({ kind, name }: { readonly kind: string; readonly name: string }) => {
    writeSync(1, `${kind} ${name}\n`);
  },
};
await importFiles(parts, readMarkdownFiles(folder), new AbortController().signal);
await world.close();
await bucket.close();
