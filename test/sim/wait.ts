/** What a process can wait for, by name: so that a crash can say what it hit. */
import type { BlobOperation } from '../../blob/errors.ts';

/** Objects by what they are to a world, of which creates and gets are told apart. */
const FOLDERS = [
  'slot',
  'blob',
  'checkpoint',
  'marker',
  'root',
  'run',
  'segment',
  'records',
  'history',
  'pack',
  'other',
] as const;

type Folder = (typeof FOLDERS)[number];

const OTHER_KINDS = [
  'replace',
  'head',
  'list log',
  'list checkpoints',
  'list other',
  'delete',
] as const;

/** Which call of the bucket it is, by what it means to a world. */
export type CallKind = `create ${Folder}` | `get ${Folder}` | (typeof OTHER_KINDS)[number];

const CALL_KINDS: readonly CallKind[] = [
  ...FOLDERS.map((folder) => `create ${folder}` as const),
  ...FOLDERS.map((folder) => `get ${folder}` as const),
  ...OTHER_KINDS,
];

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

const INDEX_FOLDERS: ReadonlyMap<string, Folder> = new Map([
  ['.run', 'run'],
  ['.seg', 'segment'],
  ['.rec', 'records'],
]);

function folderOf(key: string): Folder {
  if (!key.startsWith(PREFIX)) return 'other';
  if (key.startsWith('log/', PREFIX.length)) return 'slot';
  if (key.startsWith('blobs/', PREFIX.length)) return 'blob';
  if (key.startsWith('checkpoints/', PREFIX.length)) return 'checkpoint';
  if (key.startsWith('packs/', PREFIX.length)) return 'pack';
  if (key.startsWith('roots/', PREFIX.length)) return 'root';
  if (key.startsWith('history/', PREFIX.length)) return 'history';
  if (key.startsWith('index/', PREFIX.length)) return INDEX_FOLDERS.get(key.slice(-4)) ?? 'other';
  return key === `${PREFIX}head.json` ? 'marker' : 'other';
}
