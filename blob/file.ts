/**
 * A local directory as a bucket, for one machine or a shared mount, and any number of processes.
 *
 * An object is a plain file at the path of its key (`file-path.ts`) that holds exactly its bytes.
 * It is never written in place: its bytes go to a temporary file, are synced, and the exclusive
 * hard link of that file to the object's name is the one moment in which the object comes to be. So
 * of concurrent creators one wins, a process killed anywhere leaves no half object, and a name
 * whose creator was answered survives a power cut, since its directory is synced before the answer.
 *
 * **Generation.** Inode and modification time (ns) of the file. An inode is not reused while the
 * clock of the file system could still show the same time (`file-temp.ts`), so no generation comes
 * back.
 *
 * **Replace.** The file at the object's path, its *anchor*, stays as it is; the n-th replacement is
 * a hard link named by the anchor's generation and n (`file-chain.ts`). State: no anchor, no
 * object; else the replacement of this anchor with the highest n; else the anchor.
 * 1. One winner: replacers at one generation link the same name, and the link is exclusive. Names
 *    are never removed, so one that slept finds its name taken. A crash leaves the name either
 *    linked, with synced bytes, or free; there is no lock to be left behind and nothing to roll
 *    forward or back.
 * 2. A delete removes the anchor, and with it all its replacements at once: the next anchor has
 *    another generation. A replacer that links after it has replaced an object that was deleted
 *    during its call, which is the order *replace, delete*.
 * 3. A reader reads the names first and the anchor second. Anchors do not come back, so if the
 *    anchor was there when the names were read, the answer is the state of that moment; if it came
 *    later, no name was its own, and the answer is the state in which it was created.
 * The bytes of earlier generations stay in `.bucketstore-gen`, but for a probe's. Only a world's
 * marker is ever replaced.
 *
 * Limits: the file system needs hard links and must tell upper from lower case where keys do; a key
 * cannot be an object and the directory of others (`unsupported`); a call on a file server that has
 * stopped answering is not cut off at its deadline, and a signal takes effect between two steps.
 */
import { resolve } from 'node:path';
import type {
  BlobStore,
  CallOptions,
  Chance,
  CreateResult,
  DeleteResult,
  GetOptions,
  GetResult,
  HeadResult,
  ListQuery,
  ListResult,
  ReplaceResult,
  Timing,
} from './blob.ts';
import { abortOf } from './cancel.ts';
import type { BlobOperation } from './errors.ts';
import { Chains, generationOf } from './file-chain.ts';
import { Directories, parentOf } from './file-directories.ts';
import { fileError, isAbsent, isRefusal } from './file-errors.ts';
import { KeyWalk } from './file-list.ts';
import { attributesOf, Objects } from './file-objects.ts';
import { type Owners, processOwners } from './file-owner.ts';
import { placeFile } from './file-place.ts';
import { type FileStat, type FileSystem, nodeFileSystem } from './file-system.ts';
import { TempFiles } from './file-temp.ts';
import {
  checkGeneration,
  checkKey,
  checkList,
  checkRange,
  checkSignal,
  checkStart,
} from './validate.ts';

export interface FileBucketOptions {
  /** Relative to the working directory of the moment, or absolute. */
  readonly directory: string;
  /** Gives every answer its `date`, and foreign temporary files their age. */
  readonly timing: Timing;
  /** Names temporary files. */
  readonly chance: Chance;
  /** Makes the directory at the first call if it is missing. Default false: `no-bucket` says so. */
  readonly createDirectory?: boolean | undefined;
  /** Default: the machine's. */
  readonly fs?: FileSystem | undefined;
  /** Tells whose temporary files are left over. Default: by /proc. */
  readonly owners?: Owners | undefined;
}

/**
 * A bucket in a directory. Touches nothing before its first call, which looks for the directory and
 * removes what killed processes have left. Errors: `no-bucket` (missing directory), `forbidden`
 * (rights, read-only), `unavailable` (full disk, not retryable; failing disk), `throttled` (open
 * files), `unsupported` (no hard links, key and directory at once). A write is `ambiguous` only
 * when its name may be linked.
 */
export function createFileBucket(options: FileBucketOptions): BlobStore {
  return new FileBucket(options);
}

class FileBucket implements BlobStore {
  readonly name: string;
  readonly #timing: Timing;
  readonly #fs: FileSystem;
  readonly #directories: Directories;
  readonly #temps: TempFiles;
  readonly #chains: Chains;
  readonly #objects: Objects;
  readonly #walk: KeyWalk;
  readonly #createDirectory: boolean;
  #opened: Promise<void> | undefined;
  #closed = false;

  constructor(options: FileBucketOptions) {
    const { timing, chance, fs = nodeFileSystem, owners = processOwners } = options;
    const directory = resolve(options.directory);
    this.name = `file:${options.directory}`;
    this.#timing = timing;
    this.#fs = fs;
    this.#directories = new Directories(fs, directory);
    this.#temps = new TempFiles({ fs, directory, timing, chance, owners });
    this.#chains = new Chains(fs, directory);
    this.#objects = new Objects(fs, directory, this.#chains);
    this.#walk = new KeyWalk(fs, directory, timing);
    this.#createDirectory = options.createDirectory ?? false;
  }

  async create(key: string, bytes: Uint8Array, options?: CallOptions): Promise<CreateResult> {
    checkKey('create', key);
    return this.#run('create', key, options, async (): Promise<CreateResult> => {
      // Saves the loser of a decided race a write and a sync; the link is what decides.
      if ((await this.#objects.anchor(key)) !== undefined) return { outcome: 'exists' };
      const path = this.#objects.pathOf(key);
      const stat = await this.#store('create', key, path, bytes, options);
      if (stat === undefined) return { outcome: 'exists' };
      return { outcome: 'created', attributes: attributesOf(key, stat, generationOf(stat)) };
    });
  }

  async replace(
    key: string,
    generation: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<ReplaceResult> {
    checkKey('replace', key);
    checkGeneration(key, generation);
    return this.#run('replace', key, options, async (): Promise<ReplaceResult> => {
      const names = await this.#chains.names(key);
      const anchor = await this.#objects.anchor(key);
      if (anchor === undefined) {
        await this.#directories.checkRoot('replace', key);
        return { outcome: 'changed' };
      }
      const base = generationOf(anchor);
      const current = this.#chains.newest(key, names, base)?.generation ?? base;
      if (current !== generation) return { outcome: 'changed' };
      const next = this.#chains.next(key, names, base);
      const stat = await this.#store('replace', key, next.path, bytes, options);
      if (stat === undefined) return { outcome: 'changed' };
      return { outcome: 'replaced', attributes: attributesOf(key, stat, next.generation) };
    });
  }

  async get(key: string, options?: GetOptions): Promise<GetResult> {
    checkKey('get', key);
    checkRange(key, options?.range);
    return this.#run('get', key, options, async (): Promise<GetResult> => {
      const read = await this.#objects.read(key, options?.range);
      if (read !== undefined) return { found: true, ...read };
      await this.#directories.checkRoot('get', key);
      return { found: false };
    });
  }

  async head(key: string, options?: CallOptions): Promise<HeadResult> {
    checkKey('head', key);
    return this.#run('head', key, options, async (): Promise<HeadResult> => {
      const attributes = await this.#objects.attributes(key);
      if (attributes !== undefined) return { found: true, attributes };
      await this.#directories.checkRoot('head', key);
      return { found: false };
    });
  }

  async list(query: ListQuery, options?: CallOptions): Promise<ListResult> {
    checkList(query);
    const { prefix, limit } = query;
    return this.#run('list', prefix, options, async (): Promise<ListResult> => {
      const replaced = await this.#chains.keys();
      const signal = options && abortOf(options);
      const check = (): void => checkSignal('list', prefix, signal);
      const page = await this.#objects.page(this.#walk.keys(query), { replaced, limit, check });
      if (page.objects.length === 0) await this.#directories.checkRoot('list', prefix);
      return page;
    });
  }

  async delete(key: string, options?: CallOptions): Promise<DeleteResult> {
    checkKey('delete', key);
    return this.#run('delete', key, options, async (): Promise<DeleteResult> => {
      const anchor = await this.#objects.anchor(key);
      if (anchor === undefined) {
        await this.#directories.checkRoot('delete', key);
        return {};
      }
      const path = this.#objects.pathOf(key);
      await this.#temps.rest(path, anchor);
      await this.#fs.unlink(path).catch((error: unknown) => {
        if (!isAbsent(error)) throw fileError('delete', key, error, !isRefusal(error));
      });
      await this.#sync('delete', key, parentOf(path));
      await this.#chains.forget(key);
      await this.#temps.release();
      return {};
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#walk.release();
    await this.#temps.release();
  }

  /**
   * What every call has in common: closed or aborted before it, opening, its date, one kind of
   * error.
   */
  async #run<R extends object>(
    operation: BlobOperation,
    key: string,
    options: CallOptions | undefined,
    call: () => Promise<R>,
  ): Promise<R & { readonly date: number }> {
    checkStart({ operation, key }, options && abortOf(options), this.#closed);
    try {
      await this.#open(operation, key);
      return { ...(await call()), date: this.#timing.now() };
    } catch (error) {
      throw fileError(operation, key, error);
    }
  }

  /**
   * The first call's opening; others wait for it, and after a failure the next call tries again.
   */
  async #open(operation: BlobOperation, key: string): Promise<void> {
    const opening = this.#opened;
    const opened = await opening?.then(
      () => true,
      () => false,
    );
    if (opened === true) return;
    if (this.#opened === opening) this.#opened = this.#prepare(operation, key);
    await this.#opened;
  }

  async #prepare(operation: BlobOperation, key: string): Promise<void> {
    if (this.#createDirectory) await this.#directories.createRoot(operation, key);
    await this.#directories.checkRoot(operation, key);
    await this.#temps.clean();
  }

  /** Puts bytes under a free name, safely on the disk; undefined when the name is taken. */
  async #store(
    operation: 'create' | 'replace',
    key: string,
    path: string,
    bytes: Uint8Array,
    options: CallOptions | undefined,
  ): Promise<FileStat | undefined> {
    const temp = await this.#temps.write(bytes).catch(async (error: unknown) => {
      if (isAbsent(error)) await this.#directories.checkRoot(operation, key);
      throw error;
    });
    try {
      checkSignal(operation, key, options && abortOf(options));
      const placement = {
        fs: this.#fs,
        directories: this.#directories,
        operation,
        key,
        temp,
        path,
      };
      if (!(await placeFile(placement))) return undefined;
    } finally {
      await this.#temps.remove(temp.path);
    }
    await this.#sync(operation, key, parentOf(path));
    return temp.stat;
  }

  /** The write has taken effect: a failure to make it last leaves its outcome open. */
  async #sync(operation: BlobOperation, key: string, directory: string): Promise<void> {
    try {
      if (operation === 'delete') await this.#directories.syncRemoval(key, directory);
      else await this.#directories.sync(directory);
    } catch (error) {
      throw fileError(operation, key, error, true);
    }
  }
}
