/**
 * What judging a request asked of a state, and was told. When a newer state gives the same answers,
 * the judgement stands and is not made again. Pure.
 */
import { topologyProblem } from '../snapshot/apply.ts';
import type { ListQuery, Snapshot } from '../snapshot/snapshot.ts';

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

interface Asked {
  readonly question: Question;
  readonly answer: string;
}

/** The questions of one judgement. */
export class Inquiry {
  readonly #asked: Asked[] = [];

  /** Notes a question with the answer of a state. */
  ask(state: Snapshot, question: Question): void {
    this.#asked.push({ question, answer: answerOf(state, question) });
  }

  /** Whether a state answers every question as before. */
  holds(state: Snapshot): boolean {
    return this.#asked.every(({ question, answer }) => answerOf(state, question) === answer);
  }
}

function answerOf(state: Snapshot, question: Question): string {
  switch (question.about) {
    case 'document': {
      const document = state.document(question.path);
      if (document === undefined) return 'absent';
      // The stored hash binds version, body, metadata and all versions before.
      return `${document.current.storedHash} ${document.first} ${document.archived}`;
    }
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
