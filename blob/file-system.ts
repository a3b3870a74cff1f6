/**
 * The narrow slice of a file system that the `file` driver uses, so that a test can supply one that
 * fails.
 */
import { close, constants, fstat, fsync, lstat, open, read, readdir, write } from 'node:fs';
import { link, mkdir, rmdir, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';

export type FileKind = 'file' | 'directory' | 'other';

export interface FileStat {
  readonly kind: FileKind;
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: number;
  /** When the bytes last changed, ns since the epoch by the kernel's clock. */
  readonly modifiedNs: bigint;
  /** When bytes, names or rights last changed, ns. */
  readonly changedNs: bigint;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/** An open file. */
export interface OpenFile {
  stat(): Promise<FileStat>;
  /** Up to `length` bytes from `start`; fewer only where the file ends. */
  read(start: number, length: number): Promise<Uint8Array>;
  write(bytes: Uint8Array): Promise<void>;
  /** Returns when bytes and length are on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Every method rejects with an error whose `code` is the POSIX name. No path is followed if it is a
 * symbolic link.
 */
export interface FileSystem {
  openRead(path: string): Promise<OpenFile>;
  /** Opens a file that must not exist for writing; rejects with `EEXIST` otherwise. */
  openNew(path: string): Promise<OpenFile>;
  /**
   * Gives a file a second name; rejects with `EEXIST` when the name is taken, by whatever. Atomic.
   */
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  readdir(path: string): Promise<readonly DirectoryEntry[]>;
  stat(path: string): Promise<FileStat>;
  /** Returns when the names in a directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
}

// A pipe that somebody put into the directory must not block the read of its name.
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

// An object is listed in one call and read in five, and `node:fs/promises` takes twice the time of
// these for them.
const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const statPath = promisify(lstat);
const readFile = promisify(read);
const writeFile = promisify(write);
const syncFile = promisify(fsync);
const readDirectory = promisify(readdir);

/** The machine's file system. */
export const nodeFileSystem: FileSystem = {
  openRead: async (path) => new NodeFile(await openFile(path, READ_FLAGS)),
  openNew: async (path) => new NodeFile(await openFile(path, 'wx', 0o666)),
  link,
  unlink,
  mkdir: async (path) => {
    await mkdir(path);
  },
  rmdir: (path) => rmdir(path),
  readdir: async (path) => {
    const entries = await readDirectory(path, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  },
  stat: async (path) => toStat(await statPath(path, { bigint: true })),
  syncDirectory: async (path) => {
    const directory = new NodeFile(await openFile(path, 'r'));
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
};

class NodeFile implements OpenFile {
  readonly #descriptor: number;
  #closed = false;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  async stat(): Promise<FileStat> {
    return toStat(await statFile(this.#open(), { bigint: true }));
  }

  async read(start: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const left = length - filled;
      const { bytesRead } = await readFile(this.#open(), bytes, filled, left, start + filled);
      if (bytesRead === 0) return bytes.slice(0, filled);
      filled += bytesRead;
    }
    return bytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const left = bytes.length - written;
      written += (await writeFile(this.#open(), bytes, written, left, null)).bytesWritten;
    }
  }

  sync(): Promise<void> {
    return syncFile(this.#open());
  }

  async close(): Promise<void> {
    const descriptor = this.#open();
    this.#closed = true;
    await closeFile(descriptor);
  }

  /** The number of a closed file may be another's by now. */
  #open(): number {
    if (this.#closed) throw new TypeError('the file is closed');
    return this.#descriptor;
  }
}

interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
}

function kindOf(kinds: Kinds): FileKind {
  if (kinds.isFile()) return 'file';
  return kinds.isDirectory() ? 'directory' : 'other';
}

interface NodeStat extends Kinds {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

function toStat(stat: NodeStat): FileStat {
  return {
    kind: kindOf(stat),
    device: stat.dev,
    inode: stat.ino,
    size: Number(stat.size),
    modifiedNs: stat.mtimeNs,
    changedNs: stat.ctimeNs,
  };
}
