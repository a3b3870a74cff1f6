/**
 * What `plugin.ts` does, for `node --import tsx`: hooks that run in the loader's own thread, asked
 * before those that strip types elsewhere. IDs are `file:` URLs here.
 */
import { readFileSync } from 'node:fs';
import type { LoadHook, ResolveHook } from 'node:module';
import ts from 'typescript';
import { LOADED } from './list.ts';
import { importedBy, mutantSource, parseMutant } from './mutate.ts';

const ROOT = new URL('../../..', import.meta.url).href.slice(0, -1);
const COMPILER: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
  inlineSourceMap: true,
  inlineSources: true,
};

const read = (file: string): string => readFileSync(new URL(`${ROOT}/${file}`), 'utf8');

export const resolve: ResolveHook = (specifier, context, next) => {
  if (!/^(\.|file:)/.test(specifier)) return next(specifier, context);
  const from = parseMutant(context.parentURL ?? '');
  const url = new URL(specifier, context.parentURL).href;
  const id = from === null ? url : importedBy(ROOT, from, url);
  if (parseMutant(id) === null) return next(from === null ? specifier : id, context);
  return { url: id, format: 'module', shortCircuit: true };
};

export const load: LoadHook = (url, context, next) => {
  const text = mutantSource(LOADED, ROOT, url, read);
  if (text === null) return next(url, context);
  const { outputText } = ts.transpileModule(text, { compilerOptions: COMPILER, fileName: url });
  return { format: 'module', source: outputText, shortCircuit: true };
};
