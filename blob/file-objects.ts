/**
 * Reading objects of a `file` bucket: which file is an object's state, its attributes, its bytes.
 */
import type { Attributes } from './blob.ts';
import { BlobError } from './errors.ts';
import { type Chains, generationOf, type Replacement } from './file-chain.ts';
import { codeOf, isAbsent } from './file-errors.ts';
import { isProbeKey, pathOfKey } from './file-path.ts';
import type { FileStat, FileSystem, OpenFile } from './file-system.ts';

type Range = readonly [start: number, endExclusive: number];

export interface ObjectBytes {
  readonly bytes: Uint8Array;
  readonly attributes: Attributes;
}

export interface PageOptions {
  /** The keys that may have been replaced; others need one look less. */
  readonly replaced: ReadonlySet<string>;
  readonly limit: number;
  /** Throws when the list is to end. */
  readonly check: () => void;
}

export interface ObjectPage {
  readonly objects: readonly Attributes[];
  readonly more: boolean;
}

/** Files of a list that are looked at together. */
const LOOKS_AT_ONCE = 16;

export class Objects {
  readonly #fs: FileSystem;
  readonly #root: string;
  readonly #chains: Chains;

  constructor(fs: FileSystem, root: string, chains: Chains) {
    this.#fs = fs;
    this.#root = root;
    this.#chains = chains;
  }

  /** Where an object's anchor is. */
  pathOf(key: string): string {
    return `${this.#root}/${pathOfKey(key)}`;
  }

  /** The anchor, or undefined when there is no file in its place. */
  async anchor(key: string): Promise<FileStat | undefined> {
    const stat = await this.#look(key);
    return stat?.kind === 'file' ? stat : undefined;
  }

  /** @throws BlobError `integrity` when something that is no file has the object's place */
  async attributes(key: string): Promise<Attributes | undefined> {
    const names = await this.#chains.namesForRead(key);
    const found = await this.#look(key);
    if (found?.kind === 'other') throw this.#noFile('head', key);
    return this.#attributesOf(key, names, found);
  }

  /**
   * The attributes of the keys of a walk, up to a limit; whether keys are left. One whose place
   * something has that is no file is shown too: whoever reads it is told. What has gone since is
   * not.
   */
  async page(keys: AsyncIterable<string>, options: PageOptions): Promise<ObjectPage> {
    const { replaced, limit, check } = options;
    const objects: Attributes[] = [];
    const waiting: string[] = [];
    const look = async (): Promise<void> => {
      const looks = waiting.splice(0).map((key) => this.#listed(key, replaced));
      for (const found of await Promise.all(looks)) if (found !== undefined) objects.push(found);
    };
    for await (const key of keys) {
      check();
      if (objects.length === limit) return { objects, more: true };
      waiting.push(key);
      const isFull = objects.length + waiting.length === limit;
      if (isFull || waiting.length === LOOKS_AT_ONCE) await look();
    }
    await look();
    return { objects, more: false };
  }

  async #listed(key: string, replaced: ReadonlySet<string>): Promise<Attributes | undefined> {
    const names = replaced.has(key) ? await this.#chains.names(key) : [];
    return this.#attributesOf(key, names, await this.#look(key));
  }

  async read(key: string, range: Range | undefined): Promise<ObjectBytes | undefined> {
    const names = await this.#chains.namesForRead(key);
    const file = await this.#openAnchor(key);
    if (file === undefined) return undefined;
    let newest: Replacement | undefined;
    try {
      const stat = await file.stat();
      if (stat.kind === 'other') throw this.#noFile('get', key);
      if (stat.kind !== 'file') return undefined;
      const generation = generationOf(stat);
      newest = this.#chains.newest(key, names, generation);
      if (newest === undefined) return await readFrom(file, key, range, stat, generation);
    } finally {
      await file.close();
    }
    return this.#readReplacement(key, range, newest);
  }

  async #openAnchor(key: string): Promise<OpenFile | undefined> {
    try {
      return await this.#fs.openRead(this.pathOf(key));
    } catch (error) {
      // What a symbolic link and a socket answer.
      const odd = codeOf(error) === 'ELOOP' || codeOf(error) === 'ENXIO';
      if (odd && (await this.#look(key))?.kind === 'other') throw this.#noFile('get', key);
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /** What has an object's place, whatever it is. */
  async #look(key: string): Promise<FileStat | undefined> {
    try {
      return await this.#fs.stat(this.pathOf(key));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  async #attributesOf(
    key: string,
    names: readonly string[],
    found: FileStat | undefined,
  ): Promise<Attributes | undefined> {
    if (found === undefined || found.kind === 'directory') return undefined;
    const generation = generationOf(found);
    const newest = this.#chains.newest(key, names, generation);
    if (newest === undefined) return attributesOf(key, found, generation);
    const stat = await this.#fs.stat(newest.path).catch((error: unknown) => gone(key, error));
    return stat && attributesOf(key, stat, newest.generation);
  }

  /** Not absent, which would be taken for a free name, and nothing that could be read. */
  #noFile(operation: 'get' | 'head', key: string): BlobError {
    const path = this.pathOf(key);
    const message = `${path} is no file (a symbolic link?); put the file itself there`;
    return new BlobError({ code: 'integrity', operation, key, message, retryable: false });
  }

  async #readReplacement(
    key: string,
    range: Range | undefined,
    { path, generation }: Replacement,
  ): Promise<ObjectBytes | undefined> {
    const file = await this.#fs.openRead(path).catch((error: unknown) => gone(key, error));
    if (file === undefined) return undefined;
    try {
      return await readFrom(file, key, range, await file.stat(), generation);
    } finally {
      await file.close();
    }
  }
}

/**
 * A replacement that vanishes under its reader was a probe's, deleted after its name was read; any
 * other's is damage, which must not pass for an absent object.
 */
function gone(key: string, error: unknown): undefined {
  if (!isProbeKey(key) || !isAbsent(error)) throw error;
}

/** What the port says of a file that is an object's state. */
export function attributesOf(key: string, stat: FileStat, generation: string): Attributes {
  const modifiedMs = Number(stat.modifiedNs / 1_000_000n);
  return { key, generation, size: stat.size, modifiedMs };
}

async function readFrom(
  file: OpenFile,
  key: string,
  range: Range | undefined,
  stat: FileStat,
  generation: string,
): Promise<ObjectBytes> {
  const start = Math.min(range?.[0] ?? 0, stat.size);
  const end = Math.min(range?.[1] ?? stat.size, stat.size);
  const bytes = await file.read(start, end - start);
  if (bytes.length !== end - start) {
    const message = `the file is shorter than its ${stat.size} bytes; somebody cut it`;
    throw new BlobError({ code: 'integrity', operation: 'get', key, message });
  }
  return { bytes, attributes: attributesOf(key, stat, generation) };
}
