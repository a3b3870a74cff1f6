/** What an import has done so far: told as it goes, and at the end. */
import type { Counts } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Output } from './command.ts';
import type { FileOutcome } from './importer.ts';

/** Files of a kind that the result names; all of them are warned of, and counted. */
const NAMED_MAX = 1000;
const PROGRESS_MS = 200;

interface Named {
  readonly file: string;
  readonly reason: string;
}

export interface ImportFacts {
  readonly location: string;
  readonly worldId: string;
  readonly createdWorld: boolean;
  /** false: stopped or interrupted before the last file. */
  readonly complete: boolean;
  /** Of the import alone, without opening the world. */
  readonly requests: Counts['requests'];
}

export class ImportTally {
  readonly #output: Output;
  readonly #clock: Clock;
  readonly #verbose: boolean;
  readonly #startedAt: number;
  readonly #counts = { new: 0, changed: 0, unchanged: 0, skipped: 0, unknown: 0, noted: 0 };
  readonly #skipped: Named[] = [];
  readonly #unknown: Named[] = [];
  #progressAt = 0;

  constructor(output: Output, clock: Clock, verbose: boolean) {
    this.#output = output;
    this.#clock = clock;
    this.#verbose = verbose;
    this.#startedAt = clock.monotonic();
  }

  /** Whether no file of the folder is in the world. */
  get nothingImported(): boolean {
    const { new: fresh, changed, unchanged } = this.#counts;
    return fresh + changed + unchanged === 0;
  }

  /** Files that this run has committed. */
  get committed(): number {
    return this.#counts.new + this.#counts.changed;
  }

  /** Files that were sent, and may be committed or not. */
  get unknown(): number {
    return this.#counts.unknown;
  }

  readonly note = (outcome: FileOutcome): void => {
    this.#counts[outcome.kind]++;
    switch (outcome.kind) {
      case 'new':
      case 'changed':
        if (this.#verbose) this.#output.line(`${outcome.kind} ${outcome.path}`);
        break;
      case 'unchanged':
        break;
      case 'skipped':
        this.#name(this.#skipped, outcome);
        break;
      case 'unknown':
        this.#name(this.#unknown, outcome);
        break;
      case 'noted':
        this.#output.warn(`${outcome.name}: ${outcome.reason}`);
        break;
      default:
        outcome satisfies never;
    }
    this.#progress();
  };

  /** The result, whether complete or not. */
  report(facts: ImportFacts): void {
    const { new: fresh, changed, unchanged, skipped, unknown, noted } = this.#counts;
    const imported = this.committed;
    const seconds = (this.#clock.monotonic() - this.#startedAt) / 1000;
    const perSecond = Math.round((imported + unchanged) / Math.max(seconds, 0.001));
    const counts = { imported, new: fresh, changed, unchanged, skipped, unknown };
    const named = { skippedFiles: this.#skipped, unknownFiles: this.#unknown };
    const rate = { seconds: Number(seconds.toFixed(3)), documentsPerSecond: perSecond };
    const requests = Object.entries(facts.requests).filter(([, count]) => count > 0);
    const head = facts.complete ? '' : 'not complete, run it again to go on: ';
    const none = 'no file whose name ends in .md is there';
    this.#output.result({ ...facts, ...counts, frontMatterNotes: noted, ...rate, ...named }, [
      `${head}imported ${imported} (${fresh} new, ${changed} changed), unchanged ${unchanged}, ` +
        `skipped ${skipped}${unknown === 0 ? '' : `, unknown ${unknown}`}`,
      ...(facts.complete && this.nothingImported && skipped === 0 ? [none] : []),
      `${rate.seconds} s, ${perSecond} documents/s; requests: ` +
        (requests.length === 0 ? 'none' : requests.map((pair) => pair.join(' ')).join(', ')),
    ]);
  }

  #name(named: Named[], outcome: Extract<FileOutcome, { readonly reason: string }>): void {
    const { kind, name, reason } = outcome;
    this.#output.warn(`${kind} ${name}: ${reason}`);
    if (named.length < NAMED_MAX) named.push({ file: name, reason });
  }

  #progress(): void {
    const now = this.#clock.monotonic();
    if (now - this.#progressAt < PROGRESS_MS) return;
    this.#progressAt = now;
    const { new: fresh, changed, unchanged, skipped } = this.#counts;
    const done = `${fresh + changed} imported, ${unchanged} unchanged, ${skipped} skipped`;
    const perSecond = (fresh + changed + unchanged) / ((now - this.#startedAt) / 1000 || 1);
    this.#output.progress(`${done}, ${Math.round(perSecond)} documents/s`);
  }
}
