/** One document as clients see it: what each call on it does, and may be answered. */
import type { CalledMutation } from '../history.ts';
import type { SequentialModel, TimedCall } from './linearizable.ts';

export interface DocumentModelState {
  /** 0: absent. */
  readonly version: number;
  /** null: of a write whose answer nobody got, until somebody reads it. */
  readonly etag: string | null;
  readonly archived: boolean;
  readonly body: string;
}

type Asked = Pick<CalledMutation, 'kind' | 'body' | 'archived' | 'expected'>;

export interface Observed {
  readonly version: number;
  readonly etag: string;
  readonly archived: boolean;
}

export type DocumentCall = TimedCall &
  (
    | (Asked & {
        readonly outcome:
          | ({ readonly kind: 'taken'; readonly committed: boolean } & Observed)
          | {
              readonly kind: 'refused';
              readonly code: string;
              readonly currentVersion: number | null;
            }
          | { readonly kind: 'unknown' };
      })
    | {
        readonly kind: 'get';
        /** null: nothing is there. */
        readonly answer: (Observed & { readonly body: string }) | null;
      }
  );

type WriteDocumentCall = Exclude<DocumentCall, { readonly kind: 'get' }>;

/** Codes of refusals that say something of the document's state. */
export const TELLING_CODES: ReadonlySet<string> = new Set([
  ...['NOT_FOUND', 'CONFLICT', 'ARCHIVED', 'PATH_COLLISION'],
]);

const ABSENT: DocumentModelState = { version: 0, etag: null, archived: false, body: '' };

/** The model of one document that is absent at first; made anew for each history. */
export function documentModel(): SequentialModel<DocumentModelState, DocumentCall> {
  const bodies = new Map<string, number>();
  const numberOf = (body: string): number => {
    const number = bodies.get(body) ?? bodies.size;
    bodies.set(body, number);
    return number;
  };
  const key = ({ version, etag, archived, body }: DocumentModelState): string =>
    `${version} ${etag} ${archived} ${numberOf(body)}`;
  return { initial: ABSENT, step, key, observes };
}

/** Reads, refusals, and what found nothing to commit. */
function observes(call: DocumentCall): boolean {
  if (call.kind === 'get' || call.outcome.kind === 'refused') return true;
  return call.outcome.kind === 'taken' && !call.outcome.committed;
}

function step(state: DocumentModelState, call: DocumentCall): DocumentModelState | null {
  if (call.kind === 'get') {
    const { answer } = call;
    if (answer === null) return state.version === 0 ? state : null;
    return answer.body === state.body ? seen(state, answer) : null;
  }
  const { outcome } = call;
  switch (outcome.kind) {
    case 'refused':
      return mayRefuse(state, call, outcome) ? state : null;
    case 'unknown':
      return changed(state, call);
    case 'taken':
      if (!outcome.committed) return mayLeave(state, call) ? seen(state, outcome) : null;
      return taken(changed(state, call), outcome);
    default:
      return outcome satisfies never;
  }
}

/** The state once somebody was told of it; null when it is another. */
function seen(state: DocumentModelState, told: Observed): DocumentModelState | null {
  const { version, etag, archived } = told;
  if (version !== state.version || archived !== state.archived) return null;
  if (state.etag !== null && state.etag !== etag) return null;
  return state.etag === null ? { ...state, etag } : state;
}

function taken(after: DocumentModelState | null, told: Observed): DocumentModelState | null {
  return after === null ? null : seen(after, told);
}

/** The state after a change; null when it would be refused, or changes nothing. */
function changed(state: DocumentModelState, call: WriteDocumentCall): DocumentModelState | null {
  const { version, body } = state;
  if (call.kind !== 'publish' && version === 0) return null;
  if (!mayMeet(state, call.expected)) return null;
  if (call.kind === 'archive') {
    return state.archived === call.archived ? null : { ...state, archived: call.archived };
  }
  if (state.archived) return null;
  const text = call.kind === 'publish' ? call.body : appended(body, call.body);
  return { version: version + 1, etag: null, archived: false, body: text };
}

/** Whether a call may find nothing to commit. Metadata are not looked at. */
function mayLeave(state: DocumentModelState, call: WriteDocumentCall): boolean {
  if (state.version === 0 || !mayMeet(state, call.expected)) return false;
  if (call.kind === 'archive') return state.archived === call.archived;
  return call.kind === 'publish' && !state.archived && state.body === call.body;
}

function mayRefuse(
  state: DocumentModelState,
  call: WriteDocumentCall,
  told: { readonly code: string; readonly currentVersion: number | null },
): boolean {
  const absent = state.version === 0;
  switch (told.code) {
    case 'NOT_FOUND':
      return absent && call.kind !== 'publish';
    case 'CONFLICT': {
      if (absent && call.kind !== 'publish') return false;
      const right = told.currentVersion === null || told.currentVersion === state.version;
      return right && !mustMeet(state, call.expected);
    }
    case 'ARCHIVED':
      return state.archived && call.kind !== 'archive' && mayMeet(state, call.expected);
    case 'PATH_COLLISION':
      return absent && mayMeet(state, call.expected);
    default:
      return true;
  }
}

/** Whether an expectation may hold: it may of an ETag that nobody has seen. */
function mayMeet(state: DocumentModelState, expected: Asked['expected']): boolean {
  if (typeof expected === 'object') {
    return state.version > 0 && (state.etag === null || state.etag === expected.etag);
  }
  return mustMeet(state, expected);
}

function mustMeet(state: DocumentModelState, expected: Asked['expected']): boolean {
  if (expected === 'any') return true;
  if (expected === 'absent') return state.version === 0;
  if (typeof expected === 'number') return state.version === expected;
  return state.version > 0 && state.etag === expected.etag;
}

/** The body after an append: on a line of its own. */
export function appended(body: string, content: string): string {
  return body === '' || body.endsWith('\n') ? body + content : `${body}\n${content}`;
}
