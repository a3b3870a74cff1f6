/** Keys of versions in the map of a state. */

/** Key of a version, in version order within a path: 8 hex digits hold 2^31 − 1. */
export function versionKey(path: string, version: number): string {
  return `${path}\0${version.toString(16).padStart(8, '0')}`;
}
