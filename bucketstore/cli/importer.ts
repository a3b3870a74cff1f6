/**
 * A folder into a world: many documents in flight, so that the batches of the committer fill, and
 * no more than memory allows. A document that is there already, the same in body and metadata, is
 * found by its hash and not sent, so a second run writes nothing and an interrupted one goes on
 * where it was.
 */
import type { Clock } from '../base/clock.ts';
import { isStoreError, StoreError, type StoreErrorCode } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { Expected } from '../commit/mutation.ts';
import { bodyHash, formatHash } from '../document/body.ts';
import { readFrontMatter } from '../document/front-matter.ts';
import { type Metadata, metadataEqual } from '../document/metadata.ts';
import type { View } from '../view.ts';
import type { World } from '../world.ts';
import { ImportGate } from './import-gate.ts';
import type { LoadedFile } from './markdown-files.ts';

/** What became of one file. `new` and `changed` are committed; `path` is the document's. */
export type FileOutcome =
  | { readonly kind: 'new' | 'changed' | 'unchanged'; readonly name: string; readonly path: string }
  | { readonly kind: 'skipped'; readonly name: string; readonly reason: string }
  /** Sent, and it is not known whether it is committed; the import stops. */
  | { readonly kind: 'unknown'; readonly name: string; readonly reason: string }
  /** Imported, but for something of its front matter. Comes before the outcome itself. */
  | { readonly kind: 'noted'; readonly name: string; readonly reason: string };

export interface ImportParts {
  readonly world: World;
  readonly clock: Clock;
  readonly random: Random;
  /** Directory of the world that the folder becomes; canonical, `/` for the root. */
  readonly under: string;
  /** Called once for each file whose fate is known, and for each note. */
  readonly onOutcome: (outcome: FileOutcome) => void;
}

/** How long one document may wait: a batch of large bodies on a slow bucket takes its time. */
const DEADLINE_MS = 120_000;
const TRIES_MAX = 5;
/** Documents that are compared on one snapshot before a newer one is asked for. */
const VIEW_DOCUMENTS = 1000;
const VIEW_MS = 5_000;

/** Errors that are about one document: it is skipped, and the rest goes on. */
const OF_ONE_DOCUMENT: ReadonlySet<StoreErrorCode> = new Set([
  ...(['INVALID_PATH', 'INVALID_CONTENT', 'INVALID_META', 'SIZE_LIMIT'] as const),
  ...(['PATH_COLLISION', 'ARCHIVED', 'REJECTED', 'CONFLICT'] as const),
  ...(['POLICY_BLOCKED', 'APPROVAL_REQUIRED', 'INVALID_POLICY'] as const),
]);
/** Errors after which the same request is sent again, under the same operation. */
const TO_TRY_AGAIN: ReadonlySet<StoreErrorCode> = new Set([
  'UNAVAILABLE',
  'OVERLOADED',
  'UNKNOWN_OUTCOME',
]);

/** A file as the document it shall be. */
interface Wanted {
  readonly name: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly metadata: Metadata | null;
}

/**
 * Imports files until there are no more or the signal aborts; then waits for what was sent, so that
 * each file's outcome is told. One create for each batch, one more for each large body; one `head`
 * for each thousand files that are compared.
 * @throws StoreError what stopped it, after the outcomes of all that was sent; never for one
 *   document
 */
export async function importFiles(
  parts: ImportParts,
  files: AsyncIterable<LoadedFile>,
  signal: AbortSignal,
): Promise<void> {
  const importer = new Importer(parts);
  try {
    for await (const file of files) {
      if (signal.aborted) break;
      if (file.kind === 'skipped') parts.onOutcome(file);
      else await importer.take(file.name, file.bytes);
    }
  } finally {
    await importer.settled();
  }
}

class Importer {
  readonly #parts: ImportParts;
  readonly #gate = new ImportGate();
  #view: View | null = null;
  #viewAt = 0;
  #viewed = 0;

  constructor(parts: ImportParts) {
    this.#parts = parts;
  }

  /** Sends one file when there is room for it. @throws what stopped an earlier one */
  async take(name: string, bytes: Uint8Array): Promise<void> {
    await this.#gate.room(bytes.byteLength);
    const { under, onOutcome } = this.#parts;
    const path = under === '/' ? `/${name}` : `${under}/${name}`;
    const { metadata, problems } = readFrontMatter(bytes);
    for (const { line, key, reason } of problems) {
      const what = key === undefined ? '' : ` "${key}"`;
      const words = `front matter line ${line}${what} is no metadata: ${reason}`;
      onOutcome({ kind: 'noted', name, reason: words });
    }
    const wanted = { name, path, body: bytes, metadata };
    const expected = await this.#compare(wanted);
    if (expected === 'same') return onOutcome({ kind: 'unchanged', name, path });
    this.#gate.start(bytes.byteLength, this.#publish(wanted, expected));
  }

  /** Waits for everything that was sent. @throws what stopped one of them */
  settled(): Promise<void> {
    return this.#gate.settled();
  }

  /** What the document must be for the file to become its next version; `same` when it need not. */
  async #compare(wanted: Wanted, view = this.#currentView()): Promise<Expected | 'same'> {
    const { path, body, metadata } = wanted;
    try {
      const info = await view.stat(path);
      const same = info.bodyHash === formatHash(bodyHash(body));
      if (same && !info.archived && metadataEqual(info.metadata, metadata)) return 'same';
      return info.version;
    } catch (error) {
      // Also for a path that no document can have: publish says why.
      if (isStoreError(error) && error.code === 'NOT_FOUND') return 'absent';
      throw error;
    }
  }

  /** Whether somebody else, such as another import of the folder, has just written the same. */
  async #isThereNow(wanted: Wanted): Promise<boolean> {
    await using view = this.#parts.world.view();
    return (await this.#compare(wanted, view)) === 'same';
  }

  #currentView(): View {
    const now = this.#parts.clock.monotonic();
    const old = now - this.#viewAt > VIEW_MS || this.#viewed === VIEW_DOCUMENTS;
    if (this.#view === null || old) {
      this.#view = this.#parts.world.view();
      this.#viewAt = now;
      this.#viewed = 0;
    }
    this.#viewed++;
    return this.#view;
  }

  async #publish(wanted: Wanted, expected: Expected): Promise<void> {
    const { world, random, onOutcome } = this.#parts;
    const { name, ...request } = wanted;
    const { path } = wanted;
    const op = random.uuid();
    // Once an answer was lost, a later attempt's failure says nothing of what was sent before it.
    let unknown = false;
    for (let tries = 1; ; tries++) {
      try {
        await world.publish({ ...request, expected }, { op, deadlineMs: DEADLINE_MS });
        return onOutcome({ kind: expected === 'absent' ? 'new' : 'changed', name, path });
      } catch (error) {
        if (!isStoreError(error)) throw error;
        if (error.code === 'CONFLICT' && (await this.#isThereNow(wanted))) {
          return onOutcome({ kind: 'unchanged', name, path });
        }
        if (OF_ONE_DOCUMENT.has(error.code)) {
          return onOutcome({ kind: 'skipped', name, reason: reasonOf(error) });
        }
        unknown ||= error.outcome === 'unknown';
        if (!TO_TRY_AGAIN.has(error.code) || tries === TRIES_MAX) {
          if (unknown) onOutcome({ kind: 'unknown', name, reason: error.message });
          throw stopped(error, path);
        }
        await this.#parts.clock.sleep(250 * 2 ** tries * (0.5 + random.number() / 2));
      }
    }
  }
}

function reasonOf(error: StoreError): string {
  if (error.code !== 'CONFLICT') return `${error.message} [${error.code}]`;
  return 'somebody else wrote it meanwhile; run the import again to write over that [CONFLICT]';
}

function stopped(error: StoreError, path: string): StoreError {
  return new StoreError(error.code, `the import stopped at ${path}: ${error.message}`, {
    cause: error,
    details: error.details,
  });
}
