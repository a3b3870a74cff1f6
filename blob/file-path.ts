/**
 * How a key becomes a path below the bucket's directory, and back.
 *
 * Each `/`-separated segment becomes one name: bytes outside `[A-Za-z0-9._-]` as `%XX`; the empty
 * segment as `%`; the first dot of `.`, `..` and of what would look like the driver's own
 * directories as `%2E`. A name longer than 200 characters is cut into a chain of directories, all
 * but its last part ending in `%+`. Each key has one path; a path that no key has is somebody
 * else's file and is ignored.
 *
 * Names keep their case, so the file system must tell `A` from `a` if keys do.
 */
import { KEY_BYTES_MAX } from './blob.ts';

/** The driver's own directories begin with it. */
export const RESERVED = '.bucketstore';
/** What the names of the probe begin with. */
const PROBE_PREFIX = '_demarkus/v1/probe/';
/** A directory that continues the name of a long segment. */
export const CONTINUED = '%+';

const NAME_LENGTH_MAX = 200;
const PLAIN = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;
const OTHER = /[^A-Za-z0-9._-]+/g;

/** Whether a key is of a probe: one process uses it, and it means nothing once that has ended. */
export function isProbeKey(key: string): boolean {
  return key.startsWith(PROBE_PREFIX);
}

/** The relative path of a key. */
export function pathOfKey(key: string): string {
  return key.split('/').map(encodeSegment).join('/');
}

/** The relative path of a text as if it were one segment: no two texts share one, nor nest. */
export function encodeSegment(segment: string): string {
  if (PLAIN.test(segment)) return segment;
  if (segment === '') return '%';
  const name = encodeBytes(segment);
  if (name.length <= NAME_LENGTH_MAX) return name;
  const parts: string[] = [];
  for (let at = 0; at < name.length; at += NAME_LENGTH_MAX) {
    parts.push(name.slice(at, at + NAME_LENGTH_MAX));
  }
  return parts.join(`${CONTINUED}/`);
}

/** The text whose `encodeSegment` is `path`, or undefined when no text's is. */
export function decodeSegment(path: string): string | undefined {
  if (PLAIN.test(path)) return path;
  if (path === '%') return '';
  let segment: string;
  try {
    segment = decodeURIComponent(path.replaceAll(`${CONTINUED}/`, ''));
  } catch {
    return undefined;
  }
  return encodeSegment(segment) === path ? segment : undefined;
}

/** Whether a decoded path is a key that could have been created. */
export function isListable(key: string): boolean {
  if (key === '.' || key === '..') return false;
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) return false;
  }
  return Buffer.byteLength(key) <= KEY_BYTES_MAX;
}

function encodeBytes(segment: string): string {
  const name = segment.replace(OTHER, percentBytes);
  const dotted = segment === '.' || segment === '..' || segment.startsWith(RESERVED);
  return dotted ? `%2E${name.slice(1)}` : name;
}

function percentBytes(text: string): string {
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}
