/**
 * What a running store tells about itself: an injected logger, silent by default, and typed events
 * on Node's `diagnostics_channel`, which cost nothing while nobody listens.
 */
import { channel } from 'node:diagnostics_channel';

export type LogFields = { readonly [key: string]: unknown };

/** The four-level shape that `pino` satisfies: fields first, message second. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

const ignore = (): void => undefined;

/** The default: a library says nothing that nobody asked for. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** What is published, by channel name. Durations in ms, sizes in bytes. */
export interface DiagnosticEvents {
  /** A slot of this store was confirmed. */
  'bucketstore:commit': {
    readonly world: string;
    readonly store: string;
    readonly first: number;
    readonly entries: number;
    readonly bytes: number;
    readonly durationMs: number;
  };
  /** A slot name was lost to another store. */
  'bucketstore:lost': { readonly world: string; readonly store: string; readonly first: number };
  /** A batch that did not commit was carried over to another tip; counts of requests. */
  'bucketstore:rebase': {
    readonly store: string;
    readonly kept: number;
    readonly rebuilt: number;
    readonly groupsKept: number;
    readonly groupsRebuilt: number;
  };
  /** An answer came after too long a sleep; `beyond`: there is a checkpoint past the tip. */
  'bucketstore:fence': { readonly tip: number; readonly beyond: boolean };
  /** Of the objects that a checkpoint's state is in memory from, so many have been read. */
  'bucketstore:load': { readonly world: string; readonly read: number; readonly of: number };
  /**
   * An attempt of the background to have a checkpoint made. `newest`: the sequence of the newest
   * that is known then; `written`: how many were made here; `code`: why it failed, or null.
   */
  'bucketstore:checkpoint': {
    readonly store: string;
    readonly newest: number;
    readonly written: number;
    readonly durationMs: number;
    readonly code: string | null;
  };
  /** The state was loaded anew. */
  'bucketstore:reload': { readonly from: number; readonly to: number };
}

/** Publishes an event; the object is built only when somebody listens. */
export function publish<N extends keyof DiagnosticEvents>(
  name: N,
  event: () => DiagnosticEvents[N],
): void {
  const target = channel(name);
  if (target.hasSubscribers) target.publish(event());
}
