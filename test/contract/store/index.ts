/**
 * The store contract as a suite: what a store promises, as cases that must pass unchanged on any
 * bucket, with any number of stores, in one process or one each.
 *
 * It knows no test runner. Give it one's `test` and a factory of fresh locations:
 *
 *     storeContract({ test, factory: () => ({ open, advance, bucket }) });
 */
import { appendMetadataMerge } from './append-metadata-merge.ts';
import { appendSemantics } from './append-semantics.ts';
import { archiveLifecycle } from './archive-lifecycle.ts';
import { archivePrecondition } from './archive-precondition.ts';
import { bodySizeLimit } from './body-size-limit.ts';
import { canceledContext } from './canceled-context.ts';
import { catalogReadsWithinBound, lookupsWithinBound } from './catalog-reads-within-bound.ts';
import { closedView } from './closed-view.ts';
import { concurrentWritersLoseNothing } from './concurrent-writers-lose-nothing.ts';
import { conflictSemantics } from './conflict-semantics.ts';
import { documentOwnedFrontmatter } from './document-owned-frontmatter.ts';
import { invalidMetadata } from './invalid-metadata.ts';
import { isDirSemantics } from './is-dir-semantics.ts';
import { listDirSemantics } from './list-dir-semantics.ts';
import { listPaging } from './list-paging.ts';
import { missingDocument } from './missing-document.ts';
import { notModifiedDedup } from './not-modified-dedup.ts';
import { oneSnapshotPerView } from './one-snapshot-per-view.ts';
import { ownLookupsAtOnce, ownWritesAtOnce } from './own-writes-at-once.ts';
import { pathCollisions } from './path-collisions.ts';
import { pathReadsAreExact } from './path-reads-are-exact.ts';
import { precondition } from './precondition.ts';
import { rejectsBinaryBody } from './rejects-binary-body.ts';
import { retention } from './retention.ts';
import { sharedBodyHash } from './shared-body-hash.ts';
import { runCase, type StoreCase, type StoreContractOptions } from './store-case.ts';
import { verifyChainTampered } from './verify-chain-tampered.ts';
import { verifyChainTamperedTip } from './verify-chain-tampered-tip.ts';
import { versionHistory } from './version-history.ts';
import { writeGetRoundtrip } from './write-get-roundtrip.ts';

const CASES: Readonly<Record<string, StoreCase>> = {
  WriteGetRoundtrip: writeGetRoundtrip,
  DocumentOwnedFrontmatter: documentOwnedFrontmatter,
  VersionHistory: versionHistory,
  ConflictSemantics: conflictSemantics,
  NotModifiedDedup: notModifiedDedup,
  ArchiveLifecycle: archiveLifecycle,
  AppendSemantics: appendSemantics,
  AppendMetadataMerge: appendMetadataMerge,
  ListDirSemantics: listDirSemantics,
  IsDirSemantics: isDirSemantics,
  Retention: retention,
  MissingDocument: missingDocument,
  PathCollisions: pathCollisions,
  RejectsBinaryBody: rejectsBinaryBody,
  SharedBodyHash: sharedBodyHash,
  BodySizeLimit: bodySizeLimit,
  InvalidMetadata: invalidMetadata,
  CanceledContext: canceledContext,
  ListPaging: listPaging,
  Precondition: precondition,
  ArchivePrecondition: archivePrecondition,
  ClosedView: closedView,
  VerifyChainTampered: verifyChainTampered,
  VerifyChainTamperedTip: verifyChainTamperedTip,
  PathReadsAreExact: pathReadsAreExact,
  CatalogReadsWithinBound: catalogReadsWithinBound,
  OwnWritesAtOnce: ownWritesAtOnce,
  OneSnapshotPerView: oneSnapshotPerView,
  ConcurrentWritersLoseNothing: concurrentWritersLoseNothing,
};

/** Only where the factory says that views have `lookup`. */
const LOOKUP_CASES: Readonly<Record<string, StoreCase>> = {
  'CatalogReadsWithinBound/lookup': lookupsWithinBound,
  'OwnWritesAtOnce/lookup': ownLookupsAtOnce,
};

/** Registers every case with `test`; each gets a fresh location and closes what it opened. */
export function storeContract({ test, factory, supports = {} }: StoreContractOptions): void {
  const cases = supports.lookup === true ? { ...CASES, ...LOOKUP_CASES } : CASES;
  for (const [name, run] of Object.entries(cases)) test(name, () => runCase(factory, run));
}
