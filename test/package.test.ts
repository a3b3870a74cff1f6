/**
 * Goal: what `package.json` promises to somebody who installs the package is there.
 * Method: reads the manifest and the sources behind it. What the packed tarball really holds needs
 * a child process and is checked by test/real/package.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { entrySources, sourceOf } from './support/package-manifest.ts';

const ROOT = join(import.meta.dirname, '..');
const EXACT = /^\d+\.\d+\.\d+$/;

describe('package.json', () => {
  it.each(entrySources(manifest))('has a source for %s: %s', (_, source) => {
    expect(existsSync(join(ROOT, source))).toBe(true);
  });

  it.each(Object.entries(manifest.exports))('gives types first for %s', (name, target) => {
    if (typeof target === 'string') {
      expect(target).toBe(name);
      return;
    }
    expect(Object.keys(target)).toEqual(['types', 'default']);
    expect(target.types).toBe(target.default.replace(/\.js$/, '.d.ts'));
  });

  it('points its program at a source that begins with a hash-bang for node', () => {
    for (const target of Object.values(manifest.bin)) {
      const text = readFileSync(join(ROOT, sourceOf(target)), 'utf8');
      expect(text.startsWith('#!/usr/bin/env node\n'), target).toBe(true);
    }
  });

  it.each([
    ['dependencies', manifest.dependencies],
    ['devDependencies', manifest.devDependencies],
  ])('names one exact version for each of its %s', (_, packages) => {
    const loose = Object.entries(packages).filter(([, version]) => !EXACT.test(version));
    expect(loose).toEqual([]);
  });

  it('ships the build, the licence and the two pages, and nothing else', () => {
    expect(manifest.files).toEqual(['dist', 'README.md', 'CHANGELOG.md', 'LICENSE']);
  });

  it('is an ES module without side effects for the Node versions it was built for', () => {
    expect(manifest.type).toBe('module');
    expect(manifest.sideEffects).toBe(false);
    expect(manifest.engines.node).toBe('>=20.19');
    expect(manifest.license).toBe('Apache-2.0');
  });

  it('is locked to the versions it names', () => {
    const lock: unknown = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    expect(lock).toMatchObject({
      packages: {
        '': {
          name: manifest.name,
          version: manifest.version,
          dependencies: manifest.dependencies,
          devDependencies: manifest.devDependencies,
        },
      },
    });
  });
});

describe('sourceOf', () => {
  it('maps a built file to the source it is built from', () => {
    expect(sourceOf('dist/bucketstore/cli/main.js')).toBe('bucketstore/cli/main.ts');
    expect(sourceOf('./dist/blob/index.d.ts')).toBe('blob/index.ts');
    expect(() => sourceOf('./lib/a.js')).toThrow(RangeError);
  });
});
