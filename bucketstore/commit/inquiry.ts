/**
 * What judging a request asked of a state, and was told. When a newer state gives the same answers,
 * the judgement stands and is not made again. Pure.
 */
import { topologyProblem } from '../snapshot/apply.ts';
import type { ListQuery } from '../snapshot/listing.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { DocumentHead } from '../snapshot/state.ts';

export type Question =
  /** What the document is now. */
  | { readonly about: 'document'; readonly path: string }
  /** Whether a new document may be there: its ancestors, and whether it is a directory. */
  | { readonly about: 'topology'; readonly path: string }
  /** Whether there is room for one more document. */
  | { readonly about: 'room'; readonly documentsMax: number }
  | { readonly about: 'directory'; readonly path: string }
  | { readonly about: 'list'; readonly path: string; readonly query: ListQuery }
  /** The path that a body hash leads to. */
  | { readonly about: 'hash'; readonly bodyHash: string };

/** A document as it is, undefined for none; of everything else what was said of it. */
type Answer = DocumentHead | undefined | string;

interface Asked {
  readonly question: Question;
  readonly answer: Answer;
  readonly before: Asked | null;
}

/** The questions of one judgement. */
export class Inquiry {
  /** A chain: each write has two, and the first room that an array takes is for seventeen. */
  #last: Asked | null = null;

  /** Notes a question with the answer of a state. */
  ask(state: Snapshot, question: Question): void {
    this.#last = { question, answer: answerOf(state, question), before: this.#last };
  }

  /** Whether a state answers every question as before. */
  holds(state: Snapshot): boolean {
    for (let asked = this.#last; asked !== null; asked = asked.before) {
      if (!isSame(answerOf(state, asked.question), asked.answer)) return false;
    }
    return true;
  }
}

/** The stored hash binds version, body, metadata and all versions before. */
function isSame(a: Answer, b: Answer): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.storedHash === b.storedHash && a.first === b.first && a.archived === b.archived;
}

function answerOf(state: Snapshot, question: Question): Answer {
  switch (question.about) {
    case 'document':
      return state.head(question.path);
    case 'topology':
      return topologyProblem(state, question.path) ?? 'free';
    case 'room':
      return String(state.documentCount < question.documentsMax);
    case 'directory':
      return String(state.isDirectory(question.path));
    case 'list':
      return JSON.stringify(state.list(question.path, question.query));
    case 'hash':
      return state.lookupHash(question.bodyHash) ?? 'absent';
    default:
      return question satisfies never;
  }
}
