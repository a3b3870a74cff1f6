/** All documents of a state, wherever they lie. */
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';

/** Paths, each once, in no order: what has changed since the checkpoint first. */
export function* documentsOf(state: Snapshot): Generator<string> {
  for (const [path] of state.changed()) yield path;
  const base = state.base.from('/');
  for (let next = base.next(); next.done !== true; next = base.next()) {
    const { path } = next.value;
    const head = state.head(path);
    if (head !== undefined && !('at' in head)) yield path;
  }
}
