/** A document of a made world: every version byte by byte, and what the world says of it. */
import { catalogOf, type OldCatalog } from './catalog.ts';
import { buildHistory, buildManifest } from './history.ts';
import { blobKey, sha256 } from './names.ts';
import type { OldObject } from './objects.ts';
import type { DocumentPlan } from './plan.ts';
import type { OldChange, OldEntry } from './records.ts';
import { bodyHashOf, encodeStored, type OldMetadata, readBack, retentionOf } from './stored.ts';

/** A document as a reader of the world must find it. */
export interface OldDocument {
  readonly path: string;
  readonly pathHash: string;
  readonly archived: boolean;
  /** The current version. */
  readonly current: number;
  /** As the shard has it. */
  readonly catalog: OldCatalog;
  /** Those that are retained, ascending without a gap up to `current`. */
  readonly versions: readonly OldVersion[];
}

export interface OldVersion {
  readonly version: number;
  /** All stored bytes. */
  readonly stored: Uint8Array;
  /** Of `stored`. */
  readonly hash: string;
  /** The end of `stored`. */
  readonly body: Uint8Array;
  /** Of `body`, with its prefix `sha256-`. */
  readonly bodyHash: string;
  readonly modified: string;
  /** As they read back: tags joined by commas. */
  readonly metadata: OldMetadata;
}

/** A document without its bytes, but with what they hash to: what two readers must agree on. */
export function summaryOf(document: OldDocument): object {
  const versions = document.versions.map(({ stored, body, ...rest }) => {
    return { ...rest, stored: sha256(stored), body: sha256(body) };
  });
  return { ...document, versions };
}

/** A document and all that it puts into the bucket. */
export interface BuiltDocument {
  /** What it is there for; `plain` for those that are only many. */
  readonly kind: string;
  readonly document: OldDocument;
  readonly entry: OldEntry;
  /** Blobs, also of versions that are pruned; history; manifests, also one that is superseded. */
  readonly objects: readonly OldObject[];
  /** What each of its operations was told as, in order. */
  readonly changes: readonly OldChange[];
}

interface Written {
  readonly versions: readonly OldVersion[];
  readonly changes: readonly OldChange[];
  readonly first: number;
  readonly archived: boolean;
}

/** Builds a document. @param modifiedOf when its nth operation, from 0, was committed */
export function buildDocument(
  plan: DocumentPlan,
  modifiedOf: (step: number) => string,
): BuiltDocument {
  const { path, kind } = plan;
  const pathHash = sha256(path);
  const { versions: all, changes, first, archived } = write(plan, modifiedOf);
  const versions = all.slice(first - 1);
  const tip = versions.at(-1);
  if (tip === undefined) throw new RangeError(`${path} has no version`);
  const { version: current, bodyHash, modified, body } = tip;
  const { metadata } = plan.content(current);
  const catalog = catalogOf(path, modified, metadata, body);
  const records = versions.map(({ version, hash, ...rest }) => {
    return { version, blobHash: hash, bodyHash: rest.bodyHash, modified: rest.modified };
  });
  const history = buildHistory(pathHash, records);
  const named = { pathHash, current, history: history.ranges };
  const manifest = buildManifest({ ...named, archived });
  const objects = all.map(({ hash, stored }) => ({ key: blobKey(hash), bytes: stored }));
  objects.push(...history.objects, manifest.object);
  if (plan.operations.at(-1) === 'archive' || plan.operations.at(-1) === 'unarchive') {
    objects.push(buildManifest({ ...named, archived: !archived }).object);
  }
  const document = { path, pathHash, archived, current, catalog, versions };
  const { hash: manifestHash } = manifest;
  const entry = { path, pathHash, manifestHash, current, archived, bodyHash, modified, catalog };
  return { kind, document, entry, objects, changes };
}

function write(plan: DocumentPlan, modifiedOf: (step: number) => string): Written {
  const versions: OldVersion[] = [];
  const changes: OldChange[] = [];
  let first = 1;
  let archived = false;
  for (const [step, operation] of plan.operations.entries()) {
    let agent = '';
    if (operation === 'archive' || operation === 'unarchive') archived = operation === 'archive';
    else {
      if (archived) throw new RangeError(`${plan.path} is archived`);
      const made = writeVersion(plan, versions, modifiedOf(step));
      versions.push(made);
      const kept = retentionOf(made.metadata.get('retention'));
      if (kept !== null) first = Math.max(first, made.version - kept + 1);
      agent = made.metadata.get('agent') ?? '';
    }
    const { version = 0, bodyHash = '' } = versions.at(-1) ?? {};
    const op = operation === 'unarchive' ? 'publish' : operation;
    changes.push({ path: plan.path, op, agent, version, bodyHash });
  }
  return { versions, changes, first, archived };
}

function writeVersion(
  plan: DocumentPlan,
  before: readonly OldVersion[],
  modified: string,
): OldVersion {
  const version = before.length + 1;
  const previous = before.at(-1)?.hash ?? null;
  const { metadata, body, stored: options } = plan.content(version);
  const stored = encodeStored({ version, previous, metadata, body }, options);
  return {
    version,
    stored,
    hash: sha256(stored),
    body: stored.subarray(stored.length - body.length),
    bodyHash: bodyHashOf(body),
    modified,
    metadata: readBack(metadata),
  };
}
