/** What a checkpoint record must say of a sequence: worked out of the log, entry by entry. */
import type { OracleEntry } from '../../oracle/objects.ts';
import { lastAtMost } from './changes.ts';
import type { GhostLog } from './ghost-log.ts';
import type { GhostWorld } from './ghost-state.ts';

type Said = { readonly [name: string]: unknown };

/** All members of the record of a slot's end but `root`; null for what is no slot's end. */
export function recordAt(ghost: GhostLog, sequence: number): Said | null {
  const { marker, world } = ghost;
  const slot = ghost.slots.find(({ last }) => last === sequence);
  if (marker === null || world === null || slot === undefined) return null;
  const { world_id, incarnation_id, start } = marker;
  const { hash, time, documents } = slot;
  const control = new Walk(start);
  for (const entry of world.controls) if (entry.sequence <= sequence) control.pass(entry);
  const { barrier, ...said } = control.said;
  const swept = { plan: control.cleared, ...versionsAt(world, sequence, barrier) };
  const mutation = mutationAt(world, sequence, start.sequence);
  const at = { schema: 2, world_id, incarnation_id, sequence, slot: hash, time, documents };
  return { ...at, ...said, mutation, swept };
}

/** Barriers of the log, each with the epoch that it began and the checkpoints that it kept. */
export function barriersOf({ marker, world }: GhostLog): ReadonlyMap<number, Kept> {
  const found = new Map<number, Kept>();
  let epoch = marker?.start.epoch ?? 0;
  for (const entry of world?.controls ?? []) {
    if (entry.kind !== 'barrier') continue;
    epoch += 1;
    found.set(epoch, saidBy(entry)['kept'] as Kept);
  }
  return found;
}

type Kept = readonly (readonly [sequence: number, epoch: number])[];

class Walk {
  cleared: unknown = null;
  #epoch: number;
  #floor: { readonly at: number; readonly mutation: number };
  #plan: unknown = null;
  #kept: unknown = [];
  #barrier = 0;
  #successor: Said | null = null;
  readonly #pins: (readonly [id: unknown, sequence: number])[] = [];

  constructor({ sequence, epoch }: { readonly sequence: number; readonly epoch: number }) {
    this.#epoch = epoch;
    this.#floor = { at: sequence + 1, mutation: sequence };
  }

  get said(): Said & { readonly barrier: number } {
    const pins = [...this.#pins];
    const state = { epoch: this.#epoch, floor: this.#floor, plan: this.#plan, kept: this.#kept };
    return { ...state, pins, successor: this.#successor, barrier: this.#barrier };
  }

  pass(entry: OracleEntry): void {
    const said = saidBy(entry);
    switch (entry.kind) {
      case 'floor':
        this.#floor = { at: Number(said['at']), mutation: Number(said['mutation']) };
        break;
      case 'barrier':
        this.#epoch += 1;
        this.#plan = said['plan'];
        this.#kept = said['kept'];
        this.#barrier = entry.sequence;
        break;
      case 'clear':
        this.#plan = null;
        this.cleared = said['plan'];
        break;
      case 'pin':
        this.#pins.push([said['id'], entry.sequence]);
        break;
      case 'unpin': {
        const place = this.#pins.findIndex(([id]) => id === said['id']);
        if (place >= 0) this.#pins.splice(place, 1);
        break;
      }
      case 'seal': {
        const { kind: _, sequence: __, ...seal } = said;
        this.#successor = seal;
        break;
      }
      default:
        break;
    }
  }
}

function saidBy(entry: OracleEntry): Said {
  return entry as unknown as Said;
}

/** Versions retained at a sequence, and how many were given up since the latest barrier. */
function versionsAt(
  world: GhostWorld,
  sequence: number,
  barrier: number,
): { readonly pruned: number; readonly retained: number } {
  let [pruned, retained] = [0, 0];
  for (const { states } of world.documents.values()) {
    const state = states.at(sequence);
    if (state === undefined) continue;
    retained += state.version - state.first + 1;
    pruned += state.first - (states.at(barrier)?.first ?? 1);
  }
  return { pruned, retained };
}

/** The last mutation up to a sequence. */
function mutationAt(world: GhostWorld, sequence: number, start: number): number {
  for (let at = sequence; at > start; at--) if (world.entries.has(at)) return at;
  return start;
}

/** How many documents there are at a sequence. */
export function documentsAt(world: GhostWorld, sequence: number): number {
  return lastAtMost(world.births, sequence) + 1;
}
