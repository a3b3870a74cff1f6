/** Documents with a past: many versions, pruned ones, archived ones. */
import {
  contentOf,
  type DocumentPlan,
  metadataOf,
  type OldContent,
  type OldOperation,
  written,
} from './plan.ts';

/** Which versions are retained of the documents that were pruned, by kind. */
export const RETAINED: ReadonlyMap<string, readonly [first: number, last: number]> = new Map([
  ['pruned', [254, 300]],
  ['pruned-inside', [100, 300]],
  ['pruned-to-block', [257, 300]],
  ['pruned-to-one', [4, 4]],
  ['pruned-once', [5, 12]],
  ['pruned-plus', [2, 4]],
  ['pruned-wide', [1, 4]],
  ['pruned-never', [1, 4]],
]);

/** One document for each kind of history. */
export function historyKinds(): readonly DocumentPlan[] {
  return [...prunedKinds(), ...longKinds(), ...archivedKinds()];
}

function prunedKinds(): readonly DocumentPlan[] {
  return [
    pruned('pruned', 300, new Map([[300, '47']])),
    pruned('pruned-inside', 300, new Map([[300, '201']])),
    pruned('pruned-to-block', 300, new Map([[300, '44']])),
    pruned('pruned-to-one', 4, new Map([[4, '1']])),
    // A window is of the write that names it: later writes prune nothing and restore nothing.
    pruned('pruned-once', 12, new Map([[8, '4']])),
    pruned('pruned-plus', 4, new Map([[4, '+3']])),
    pruned('pruned-wide', 4, new Map([[4, '100']])),
    // As large as these servers take, in a version before and in the newest.
    pruned(
      'pruned-never',
      4,
      new Map([
        [2, '2147483648'],
        [4, '9223372036854775807'],
      ]),
    ),
  ];
}

function longKinds(): readonly DocumentPlan[] {
  return [
    pruned('long', 300, new Map()),
    pruned('whole-block', 256, new Map()),
    pruned('block-and-one', 257, new Map()),
  ];
}

function archivedKinds(): readonly DocumentPlan[] {
  return [
    { ...changed('archived', ['publish', 'publish', 'archive']), last: true },
    changed('archived-first', ['publish', 'archive']),
    { ...changed('unarchived', ['publish', 'archive', 'unarchive']), last: true },
    changed('revived', ['publish', 'archive', 'unarchive', 'publish', 'append']),
    changed('archived-again', ['publish', 'archive', 'unarchive', 'archive']),
    { ...changed('appended', ['publish', 'append', 'append']), last: true },
    { ...changed('republished', ['publish', 'publish']), last: true },
  ];
}

/** Written so many times; the retention that some versions name is how many are kept. */
function pruned(
  kind: string,
  versions: number,
  retentions: ReadonlyMap<number, string>,
): DocumentPlan {
  return written(kind, `/histories/${kind}.md`, versions, (version) => {
    const retention = retentions.get(version);
    const metadata = metadataOf(['type', 'Document'], ['tags', `v${version}, history`]);
    const withIt = new Map([
      ...metadata,
      ...(retention ? [['retention', retention] as const] : []),
    ]);
    return contentOf(`# ${kind}\n\nRevision ${version}.\n`, withIt);
  });
}

function changed(kind: string, operations: readonly OldOperation[]): DocumentPlan {
  const content = (version: number): OldContent => {
    const lines = Array.from({ length: version }, (_, i) => `Line ${i + 1}.\n`);
    const metadata = metadataOf(['agent', `agent-${version}`], ['type', 'Document']);
    return contentOf(`# ${kind}\n\n${lines.join('')}`, metadata);
  };
  return { kind, path: `/histories/${kind}.md`, operations, content };
}
