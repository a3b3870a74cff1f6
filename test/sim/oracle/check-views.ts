/**
 * Reads against the log: all answers of a view are of one state (I15), which is new enough (I14).
 */
import type { Call, ReadCall, ViewCall, Violation } from '../history.ts';
import { committedOf } from './attempts.ts';
import { type Interval, lastAtMost } from './changes.ts';
import type { GhostDocument } from './ghost-document.ts';
import type { GhostLog } from './ghost-log.ts';
import type { GhostWorld } from './ghost-state.ts';

/** How old the state may be that a list chooses, ms. */
const FRESH_MS = 1000;

/** The last sequence that had been acknowledged before a time. */
export class Acknowledged {
  readonly #times: number[] = [];
  readonly #sequences: number[] = [];

  constructor(history: readonly Call[]) {
    const told = history.flatMap((call) => {
      const returned = call.kind === 'view' ? null : call.returned;
      if (returned === null) return [];
      const sequences = committedOf(takenOf(call)).map(({ sequence }) => sequence ?? 0);
      return sequences.length === 0 ? [] : [{ returned, sequence: Math.max(...sequences) }];
    });
    let last = 0;
    for (const { returned, sequence } of told.sort((a, b) => a.returned - b.returned)) {
      last = Math.max(last, sequence);
      this.#times.push(returned);
      this.#sequences.push(last);
    }
  }

  before(time: number): number {
    return this.#sequences[lastAtMost(this.#times, time - 0.5)] ?? 0;
  }
}

function takenOf(call: Call) {
  if (call.kind === 'write') return call.outcome?.kind === 'taken' ? call.outcome.taken : [];
  if (call.kind === 'operation') return call.answer?.kind === 'committed' ? call.answer.taken : [];
  return [];
}

export function checkView(
  view: ViewCall,
  ghost: GhostLog,
  acknowledged: Acknowledged,
): Violation[] {
  const { world } = ghost;
  if (world === null) return [];
  const [first] = answeredOf(view);
  const { states, problem } = statesOfView(view, ghost);
  if (problem !== null) return [problem];
  const found = view.reads.flatMap((read) => checkBody(world, read));
  const oldest = oldestAllowed(view, acknowledged);
  if (first === undefined || (states.at(-1)?.to ?? 0) >= oldest) return found;
  const detail = `${words(first)} is of ${spans(states)}, older than ${oldest}`;
  return [...found, { rule: 'I14', detail }];
}

/** The states of which all answers of a view can be, or that there is none. */
export function statesOfView(
  view: ViewCall,
  ghost: GhostLog,
): { readonly states: readonly Interval[]; readonly problem: Violation | null } {
  const answered = answeredOf(view);
  const { world } = ghost;
  // The state was chosen before the first answer came.
  const chosenBy = Math.min(
    ...answered.map(({ returned }) => returned ?? Number.POSITIVE_INFINITY),
  );
  let states: Interval[] = [{ from: ghost.start, to: ghost.tipAt(chosenBy) }];
  if (world === null) return { states, problem: null };
  for (const read of answered) {
    const before = states;
    states = states.flatMap((range) => statesOf(world, read, range));
    states = states.flatMap((range) => clip(range, range.from, ghost.slotEnd(range.to)));
    if (states.length > 0) continue;
    const detail = `${words(read)} is of none of the states ${spans(before)} of its view`;
    return { states, problem: { rule: 'I15', detail } };
  }
  return { states, problem: null };
}

function answeredOf(view: ViewCall): readonly ReadCall[] {
  return view.reads.filter(({ answer }) => answer !== null);
}

/**
 * Path reads choose an exact state, others one that was current within a second. Reads that failed
 * may have chosen, or have left the choice to the next.
 */
function oldestAllowed({ reads, disturbed }: ViewCall, acknowledged: Acknowledged): number {
  const [first] = reads;
  if (first === undefined) return 0;
  const answered = reads.findIndex(({ answer }) => answer !== null);
  const exact = reads
    .slice(0, answered + 1)
    .every(({ what }) => what !== 'list' && what !== 'hash');
  if (exact) return acknowledged.before(first.called);
  return disturbed ? 0 : acknowledged.before(first.called - FRESH_MS);
}

/** The sequences within a range at which an answer is right; a state is one of a slot's end. */
function statesOf(
  world: GhostWorld,
  { what, path, answer }: ReadCall,
  range: Interval,
): Interval[] {
  if (answer === null) return [range];
  const document = world.documents.get(path);
  const since = what === 'list' || what === 'isDir' ? world.directories.since(path) : 0;
  switch (answer.kind) {
    case 'absent':
      if (what === 'hash') return hashStates(world, path, '', range);
      if (what === 'list') return clip(range, 0, since - 1);
      if (what !== 'isDir') return where(document, (state) => state === undefined, range);
      return where(document, (state) => state === undefined, clip(range, 0, since - 1));
    case 'document':
      return where(
        document,
        (state) =>
          state !== undefined &&
          state.version === answer.version &&
          state.etag === answer.etag &&
          state.archived === answer.archived,
        range,
      );
    case 'versions': {
      const told = answer.etags.join();
      return where(
        document,
        (state) => state !== undefined && document?.retained(state).join() === told,
        range,
      );
    }
    case 'directory':
      if (answer.isDir) return clip(range, since, range.to);
      return where(document, (state) => state !== undefined, range);
    case 'names': {
      const told = answer.names.join('\0');
      const names = world.directories.names(path);
      const [part] = clip(range, since, range.to);
      return part === undefined ? [] : names.where((value = '') => value === told, part);
    }
    case 'path':
      return hashStates(world, path, answer.path, range);
    default:
      return answer satisfies never;
  }
}

function where(
  document: GhostDocument | undefined,
  holds: Parameters<GhostDocument['states']['where']>[0],
  ranges: Interval | readonly Interval[],
): Interval[] {
  return [ranges].flat().flatMap((range) => {
    if (document === undefined) return holds(undefined) ? [range] : [];
    return document.states.where(holds, range);
  });
}

function hashStates(world: GhostWorld, hash: string, path: string, range: Interval): Interval[] {
  const bare = hash.startsWith('sha256-') ? hash.slice('sha256-'.length) : '';
  return world.directories.smallest(bare).where((value = '') => value === path, range);
}

function clip({ from, to }: Interval, low: number, high: number): Interval[] {
  const range = { from: Math.max(from, low), to: Math.min(to, high) };
  return range.from <= range.to ? [range] : [];
}

/** A body is that of the version whose ETag it came with. */
function checkBody(world: GhostWorld, { path, answer }: ReadCall): Violation[] {
  if (answer?.kind !== 'document') return [];
  const version = world.documents.get(path)?.versions.get(answer.version);
  if (version === undefined || Buffer.from(version.body).toString() === answer.body) return [];
  return [{ rule: 'body', detail: `${path}: version ${answer.version} was read as another body` }];
}

function words({ what, path, called, returned, answer }: ReadCall): string {
  const told = JSON.stringify(answer).slice(0, 200);
  return `${what} ${path}, called at ${called}, answered at ${returned} with ${told},`;
}

function spans(intervals: readonly Interval[]): string {
  return intervals.map(({ from, to }) => `${from}–${to}`).join(', ');
}
