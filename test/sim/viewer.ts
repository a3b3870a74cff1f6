/** Clients that read: views of one or more reads, each noted with its answer. */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import type { View } from '../../bucketstore/view.ts';
import { isStoreFailure } from './answers.ts';
import type { ReadAnswer, ReadCall, ViewCall } from './history.ts';
import type { Life, SimStore } from './life.ts';
import type { PlanEvent } from './plan.ts';
import type { Scene } from './scene.ts';

type PlannedView = Pick<Extract<PlanEvent, { readonly kind: 'view' }>, 'reads' | 'next'>;

/** Opens a view of a store and reads, one after another; nothing when the store is down. */
export function look(scene: Scene, store: SimStore, { reads: planned, next }: PlannedView): void {
  const { timeline, history } = scene;
  const { life } = store;
  if (life === null) return;
  const { process, world } = life;
  const reads = planned.map((read) => {
    const bodyHash = read.what === 'hash' ? history.known(read.path)?.bodyHash : undefined;
    return { what: read.what, path: bodyHash ?? read.path };
  });
  const called = timeline.now;
  const open: ViewCall = { kind: 'view', process: process.id, reads: [], disturbed: true };
  const answered = history.call(process, open);
  process.deliver(() => {
    void readAll({ ...scene, process }, world.view(), reads).then((done) => {
      const disturbed = store.disturbedSince(called);
      answered(timeline.now, { ...open, reads: done, disturbed });
      if (next === null) return;
      const search = { reads: [next.read], next: null };
      timeline.after(next.afterMs, () => look(scene, store, search));
    });
  });
}

type Read = Pick<ReadCall, 'what' | 'path'>;
type Reader = Scene & Pick<Life, 'process'>;

async function readAll(reader: Reader, view: View, reads: readonly Read[]): Promise<ReadCall[]> {
  const { timeline, history } = reader;
  const done: ReadCall[] = [];
  for (const read of reads) {
    const called = timeline.now;
    const answer = await readOne(reader, view, read);
    if (answer?.kind === 'document' && !answer.archived) {
      const { version, etag, body } = answer;
      const bodyHash = `sha256-${sha256Hex(Buffer.from(body))}`;
      history.learn(read.path, { version, etag, bodyHash });
    }
    done.push({ ...read, called, returned: timeline.now, answer });
  }
  return done;
}

async function readOne(
  reader: Reader,
  view: View,
  { what, path }: Read,
): Promise<ReadAnswer | null> {
  try {
    switch (what) {
      case 'get': {
        const { version, etag, archived, body } = await view.get(path);
        return { kind: 'document', version, etag, archived, body: Buffer.from(body).toString() };
      }
      case 'versions': {
        const versions = await view.versions(path);
        return { kind: 'versions', etags: versions.map(({ etag }) => etag) };
      }
      case 'isDir':
        return { kind: 'directory', isDir: await view.isDir(path) };
      case 'list': {
        const entries = await view.listEntries(path);
        return {
          kind: 'names',
          names: entries.map(({ name, isDir }) => (isDir ? `${name}/` : name)),
        };
      }
      case 'hash':
        return { kind: 'path', path: await view.lookupHash(path) };
      default:
        return what satisfies never;
    }
  } catch (error) {
    if (isStoreFailure(error) && error.code === 'NOT_FOUND') return { kind: 'absent' };
    reader.noteFailure(reader.process, `${what} ${path}`, error);
    return null;
  }
}
