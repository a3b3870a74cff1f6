/** What a process can wait for, by name: so that a crash can say what it hit. */
import type { BlobOperation } from '../../blob/errors.ts';

const CALL_KINDS = [
  'create slot',
  'create blob',
  'create checkpoint',
  'create marker',
  'create other',
  'replace',
  'get slot',
  'get blob',
  'get checkpoint',
  'get marker',
  'get other',
  'head',
  'list log',
  'list checkpoints',
  'list other',
  'delete',
] as const;

/** Which call of the bucket it is, by what it means to a world. */
export type CallKind = (typeof CALL_KINDS)[number];

/**
 * A wait: a sleep, or a call whose effect is still to come (`request`) or has been and whose answer
 * is on its way (`answer`).
 */
export type WaitKind = 'sleep' | `${CallKind} request` | `${CallKind} answer`;

/** The two stages of a call as waits. */
export interface Stages {
  readonly request: WaitKind;
  readonly answer: WaitKind;
}

const STAGES: ReadonlyMap<CallKind, Stages> = new Map(
  CALL_KINDS.map((kind) => [kind, { request: `${kind} request`, answer: `${kind} answer` }]),
);

/** The two stages of a call; the same object for each kind, so that no call builds its names. */
export function stagesOf(kind: CallKind): Stages {
  const stages = STAGES.get(kind);
  if (stages === undefined) throw new RangeError(`no such kind of call: ${kind}`);
  return stages;
}

const PREFIX = '_demarkus/v1/';

type Folder = 'slot' | 'blob' | 'checkpoint' | 'marker' | 'other';

/** The kind of a call. @param key the key, or the prefix of a list */
export function callKindOf(operation: BlobOperation, key: string): CallKind {
  switch (operation) {
    case 'create':
    case 'get':
      return `${operation} ${folderOf(key)}`;
    case 'list': {
      const folder = folderOf(key);
      if (folder === 'slot') return 'list log';
      return folder === 'checkpoint' ? 'list checkpoints' : 'list other';
    }
    case 'replace':
    case 'head':
    case 'delete':
      return operation;
  }
}

function folderOf(key: string): Folder {
  if (!key.startsWith(PREFIX)) return 'other';
  if (key.startsWith('log/', PREFIX.length)) return 'slot';
  if (key.startsWith('blobs/', PREFIX.length)) return 'blob';
  if (key.startsWith('checkpoints/', PREFIX.length)) return 'checkpoint';
  return key === `${PREFIX}head.json` ? 'marker' : 'other';
}
