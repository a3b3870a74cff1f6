/**
 * The world's publish policy as a condition of every write: evaluated on the state the write
 * commits on.
 */
import { StoreError } from '../base/errors.ts';
import {
  checkPolicyDocument,
  describeViolation,
  evaluatePolicy,
  POLICY_PATH,
  type Policy,
  parsePolicy,
  strictnessOf,
} from '../document/policy.ts';
import { decodeUtf8 } from '../document/text.ts';
import type { StateReader } from '../snapshot/reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { PreparedEntry } from './judge.ts';

/** Reads the policy of a state, once for each version of it. */
export class PolicyGate {
  readonly #required: boolean;
  /** The policy last parsed, by the hash of its body: one, so bounded. */
  #parsed: { readonly bodyHash: string; readonly policy: Policy | null } | null = null;

  /** @param required whether a world without a valid policy refuses every write */
  constructor(required: boolean) {
    this.#required = required;
  }

  /**
   * Lets a write through or refuses it: now, or when the policy has been read where it must be.
   * Only then `reader` is called. At most one read of the policy document, when it has changed.
   * @throws StoreError `INVALID_POLICY`, `POLICY_BLOCKED`, `APPROVAL_REQUIRED`
   */
  admit(
    state: Snapshot,
    reader: () => StateReader,
    prepared: PreparedEntry,
  ): Promise<void> | undefined {
    if (prepared.entry.path === POLICY_PATH) {
      const problem = policyProblem(prepared.body);
      if (problem !== null) throw invalid(`the policy that is being written: ${problem}`);
      return undefined;
    }
    const policy = this.#policy(state, reader);
    if (policy instanceof Promise) return policy.then((read) => this.#judge(read, prepared));
    this.#judge(policy, prepared);
    return undefined;
  }

  /** Refuses to archive the policy where one is required. @throws StoreError `INVALID_POLICY` */
  admitArchive(path: string, archived: boolean): void {
    if (this.#required && archived && path === POLICY_PATH) {
      throw invalid('this store requires a policy, so it cannot be archived');
    }
  }

  #judge(policy: Policy | null, prepared: PreparedEntry): void {
    if (policy !== null) judge(policy, prepared);
    else if (this.#required) throw invalid(`${POLICY_PATH} is missing or not valid`);
  }

  /** At once, unless it must be read: most writes meet the policy that the one before them did. */
  #policy(state: Snapshot, reader: () => StateReader): Policy | null | Promise<Policy | null> {
    const head = state.head(POLICY_PATH);
    if (head === undefined || head.archived) return null;
    const { bodyHash } = head;
    if (this.#parsed?.bodyHash === bodyHash) return this.#parsed.policy;
    return this.#read(bodyHash, reader());
  }

  async #read(bodyHash: string, reader: StateReader): Promise<Policy | null> {
    const { body } = await reader.get(POLICY_PATH);
    const usable = policyProblem(body) === null;
    // An invalid policy counts as none only where one is required; else what can be read of it
    // holds.
    const policy = usable || !this.#required ? parsePolicy(decodeUtf8(body) ?? '') : null;
    this.#parsed = { bodyHash, policy };
    return policy;
  }
}

function policyProblem(body: Uint8Array): string | null {
  const problem = checkPolicyDocument(decodeUtf8(body) ?? '');
  return problem === null ? null : `${problem.directive}: ${problem.reason}`;
}

function judge(policy: Policy, { entry, metadata }: PreparedEntry): void {
  const strictness = strictnessOf(policy);
  if (strictness === 'warn') return;
  const violations = evaluatePolicy(policy, { path: entry.path, metadata }).map(describeViolation);
  if (violations.length === 0) return;
  throw new StoreError(
    strictness === 'block' ? 'POLICY_BLOCKED' : 'APPROVAL_REQUIRED',
    `${entry.path}: the world's policy asks for more: ${violations.join(', ')}`,
    { details: { path: entry.path, violations } },
  );
}

function invalid(problem: string): StoreError {
  return new StoreError('INVALID_POLICY', problem, { details: { path: POLICY_PATH } });
}
