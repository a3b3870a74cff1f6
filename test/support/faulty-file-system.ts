/** A file system that a test watches, fails or stops at any call. */
import type { FileSystem, OpenFile } from '../../blob/file-system.ts';

/** One call: what is done to which path. Calls on an open file carry the path it was opened by. */
export interface FileCall {
  readonly name: keyof FileSystem | `file.${keyof OpenFile}`;
  readonly path: string;
}

export interface FileHooks {
  /** Called first; what it throws is the call's failure, and nothing has happened. */
  readonly before?: (call: FileCall) => void | Promise<void>;
  /** Called last; what it throws is the call's failure, though it has taken effect. */
  readonly after?: (call: FileCall) => void | Promise<void>;
}

/** An error as the file system's. */
export function posixError(code: string): Error {
  return Object.assign(new Error(`${code}: made up`), { code });
}

/** `base` with hooks around every call. */
export function hookedFileSystem(base: FileSystem, hooks: FileHooks): FileSystem {
  const run = async <T>(call: FileCall, act: () => Promise<T>): Promise<T> => {
    await hooks.before?.(call);
    const result = await act();
    await hooks.after?.(call);
    return result;
  };
  const opened = (path: string, file: OpenFile): OpenFile => ({
    stat: () => run({ name: 'file.stat', path }, () => file.stat()),
    read: (start, length) => run({ name: 'file.read', path }, () => file.read(start, length)),
    write: (bytes) => run({ name: 'file.write', path }, () => file.write(bytes)),
    sync: () => run({ name: 'file.sync', path }, () => file.sync()),
    // A dead process's descriptors are closed by the kernel, so the real file always is.
    close: async () => {
      await file.close();
      await run({ name: 'file.close', path }, async () => {});
    },
  });
  const open = async (call: FileCall, act: () => Promise<OpenFile>): Promise<OpenFile> => {
    await hooks.before?.(call);
    const file = await act();
    try {
      await hooks.after?.(call);
    } catch (error) {
      await file.close();
      throw error;
    }
    return opened(call.path, file);
  };
  return {
    openRead: (path) => open({ name: 'openRead', path }, () => base.openRead(path)),
    openNew: (path) => open({ name: 'openNew', path }, () => base.openNew(path)),
    link: (from, to) => run({ name: 'link', path: to }, () => base.link(from, to)),
    unlink: (path) => run({ name: 'unlink', path }, () => base.unlink(path)),
    mkdir: (path) => run({ name: 'mkdir', path }, () => base.mkdir(path)),
    rmdir: (path) => run({ name: 'rmdir', path }, () => base.rmdir(path)),
    readdir: (path) => run({ name: 'readdir', path }, () => base.readdir(path)),
    stat: (path) => run({ name: 'stat', path }, () => base.stat(path)),
    syncDirectory: (path) => run({ name: 'syncDirectory', path }, () => base.syncDirectory(path)),
  };
}
