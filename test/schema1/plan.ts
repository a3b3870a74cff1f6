/** What happens to one document of a made world: an operation after another, with its contents. */
import type { OldMetadata, StoredOptions } from './stored.ts';

export type OldOperation = 'publish' | 'append' | 'archive' | 'unarchive';

export interface OldContent {
  readonly metadata: OldMetadata;
  readonly body: Uint8Array;
  /** What is unusual in how it is stored. */
  readonly stored?: StoredOptions;
}

export interface DocumentPlan {
  /** What the document is there for; `plain` for those that are only many. */
  readonly kind: string;
  readonly path: string;
  /** In order. The first is `publish`. */
  readonly operations: readonly OldOperation[];
  /** Its last operation is among the last ones of the world, in the window of receipts. */
  readonly last?: boolean;
  /** What a version holds: the same whenever it is asked. */
  content(version: number): OldContent;
}

/** Metadata of pairs, in the order given. */
export function metadataOf(...pairs: readonly (readonly [string, string])[]): OldMetadata {
  return new Map(pairs);
}

/** The contents of text. */
export function contentOf(body: string, metadata: OldMetadata = new Map()): OldContent {
  return { metadata, body: Buffer.from(body) };
}

/** A document that is written `versions` times. */
export function written(
  kind: string,
  path: string,
  versions: number,
  content: (version: number) => OldContent,
): DocumentPlan {
  return { kind, path, operations: Array.from({ length: versions }, () => 'publish'), content };
}

/** A document of one version. */
export function once(
  kind: string,
  path: string,
  body: string,
  ...pairs: readonly (readonly [string, string])[]
): DocumentPlan {
  const content = contentOf(body, metadataOf(...pairs));
  return written(kind, path, 1, () => content);
}
