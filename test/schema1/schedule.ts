/** In which order a made world was written, and by which operations: all from its seed. */
import { SeededRandom } from '../support/seeded-random.ts';
import { sha256, timestamp } from './names.ts';
import type { DocumentPlan } from './plan.ts';

/** 2024-01-01T00:00:00Z. */
const START_MS = 1_704_067_200_000;
const STEP_S = 37;
const JITTER_S = 90;

export class Schedule {
  /** Of the world: one more than there were operations. */
  readonly sequence: number;
  /** Which document each sequence is of; from 2. */
  readonly #documents: Uint32Array;
  /** The sequences of each document, ascending. */
  readonly #sequences: readonly (readonly number[])[];
  readonly #seed: number;

  /** Documents take turns by chance; those marked `last` have their last operation at the end. */
  constructor(seed: number, plans: readonly DocumentPlan[]) {
    this.#seed = seed;
    const early: number[] = [];
    const late: number[] = [];
    for (const [index, { operations, last }] of plans.entries()) {
      for (let step = 1; step < operations.length; step++) early.push(index);
      (last === true ? late : early).push(index);
    }
    shuffle(early, new SeededRandom(seed).derive('order'));
    this.#documents = Uint32Array.from([0, 0, ...early, ...late]);
    const sequences: number[][] = plans.map(() => []);
    for (let sequence = 2; sequence < this.#documents.length; sequence++) {
      sequences[this.documentOf(sequence)]?.push(sequence);
    }
    this.#sequences = sequences;
    this.sequence = this.#documents.length - 1;
  }

  /** The document that a sequence changed. */
  documentOf(sequence: number): number {
    const index = this.#documents[sequence];
    if (index === undefined || sequence < 2) throw new RangeError(`no sequence ${sequence}`);
    return index;
  }

  /** The sequences that changed a document, ascending. */
  sequencesOf(document: number): readonly number[] {
    return this.#sequences[document] ?? [];
  }

  operationId(sequence: number): string {
    return uuidOf(`${this.#seed} operation ${sequence}`);
  }

  /** When a sequence was committed. Clocks of replicas differ, so it may precede the one before. */
  modified(sequence: number): string {
    const jitter = Number.parseInt(this.#digest('time', sequence), 16) % (2 * JITTER_S);
    return timestamp(START_MS + (STEP_S * sequence + jitter - JITTER_S) * 1000);
  }

  /** Chance for one sequence: true for so many out of 256. */
  isOne(label: string, sequence: number, of256: number): boolean {
    return Number.parseInt(this.#digest(label, sequence).slice(0, 2), 16) < of256;
  }

  #digest(label: string, sequence: number): string {
    return sha256(`${this.#seed} ${label} ${sequence}`).slice(0, 8);
  }
}

/** A UUID that text gives. */
export function uuidOf(text: string): string {
  const hex = sha256(text);
  const [time, middle, version, variant] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(13, 16),
    hex.slice(17, 20),
  ];
  return `${time}-${middle}-4${version}-a${variant}-${hex.slice(20, 32)}`;
}

function shuffle(items: number[], random: SeededRandom): void {
  for (let at = items.length - 1; at > 0; at--) {
    const other = random.integer(at + 1);
    const held = items[at] ?? 0;
    items[at] = items[other] ?? 0;
    items[other] = held;
  }
}
