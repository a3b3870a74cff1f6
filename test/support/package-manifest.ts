/** The part of `package.json` that says what a user can reach, as paths of sources. */

/** What `entrySources` reads of a manifest. */
export interface Manifest {
  readonly bin: { readonly [name: string]: string };
  readonly exports: {
    readonly [name: string]: string | { readonly types: string; readonly default: string };
  };
}

/**
 * The source that a file of `dist/` is built from.
 * @throws RangeError for a path that the build does not make
 */
export function sourceOf(target: string): string {
  const found = /^(?:\.\/)?dist\/(.+?)(?:\.d\.ts|\.js)$/.exec(target);
  if (found === null) throw new RangeError(`the build makes no ${target}`);
  return `${found[1]}.ts`;
}

/** Each entry of the package, by the name a user writes, with its source. */
export function entrySources(manifest: Manifest): readonly (readonly [string, string])[] {
  const exported = Object.entries(manifest.exports).flatMap(([name, target]) =>
    typeof target === 'string' ? [] : [[name, sourceOf(target.default)] as const],
  );
  const programs = Object.entries(manifest.bin).map(
    ([name, target]) => [name, sourceOf(target)] as const,
  );
  return [...exported, ...programs];
}
