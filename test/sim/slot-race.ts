/**
 * A model of stores that race for slot names, in virtual time: what a rule for turns gives, before
 * and without the stores that obey it. The rule itself is the real one.
 *
 * A create takes `CREATE_MS` (lognormal, one in 200 three times as long), a read `READ_MS`; both
 * take effect after the share `effect` of it. Between a slot and the create behind it a store that
 * met another's slot judges anew, for `cpuMs`. Sizes cost nothing.
 */
import { Turns } from '../../bucketstore/commit/turns.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { Agenda } from './agenda.ts';

const CREATE_MS = 40;
const READ_MS = 20;
const LIST_MS = 25;
/** Spread of the logarithm, and the rare slow create. */
const CREATE_SIGMA = 0.096;
const READ_SIGMA = 0.1;
const SLOW_SHARE = 0.005;
const SLOW_FACTOR = 3;
/** A client that waits for its answer sends the next write so much later. */
const THINK_MS = 0.5;
const READS_BEFORE_LIST = 2;

/** What a store is offered: writes a second, or clients that each wait for their answer. */
export type Load = { readonly perSecond: number } | { readonly clients: number };

export interface RaceOptions {
  readonly loads: readonly Load[];
  readonly batchMax: number;
  readonly seconds: number;
  /** Left out of the figures at the beginning. */
  readonly droppedSeconds?: number;
  /** A store begins so much after the one before it, ms. */
  readonly staggerMs?: number;
  readonly cpuMs?: number;
  readonly effect?: number;
  readonly seed?: number;
}

export interface StoreFigures {
  readonly writes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time between two slots of it, and from the last to the end, ms. */
  readonly longestMs: number;
}

export interface RaceFigures {
  readonly stores: readonly StoreFigures[];
  readonly writesPerSecond: number;
  readonly creates: number;
  readonly lost: number;
  readonly reads: number;
}

export const C_MS: number = CREATE_MS;

/** Runs a race. Deterministic: the same options give the same figures. */
export function race(options: RaceOptions): RaceFigures {
  const scene = new Scene(options);
  return scene.run();
}

class Scene {
  readonly options: Required<RaceOptions>;
  readonly random: SeededRandom;
  readonly agenda: Agenda = new Agenda();
  /** Who won each name. */
  readonly names: number[] = [];
  now = 0;
  creates = 0;
  lost = 0;
  reads = 0;

  constructor(options: RaceOptions) {
    const defaults = { droppedSeconds: 5, staggerMs: 500, cpuMs: 0, effect: 0.5, seed: 5 };
    this.options = { ...defaults, ...options };
    this.random = new SeededRandom(this.options.seed);
  }

  after(ms: number, run: () => void): void {
    this.agenda.add(this.now + ms, run);
  }

  /** A request: `act` when it takes effect, `answer` when that is known. */
  request<T>(ms: number, act: () => T, answer: (result: T) => void): void {
    const { effect } = this.options;
    this.after(ms * effect, () => {
      const result = act();
      this.after(ms * (1 - effect), () => answer(result));
    });
  }

  time(medianMs: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.random.number()));
    return medianMs * Math.exp(sigma * radius * Math.cos(2 * Math.PI * this.random.number()));
  }

  run(): RaceFigures {
    const { loads, seconds, droppedSeconds } = this.options;
    const racers = loads.map((load, id) => new Racer(this, id, load));
    for (let due = this.agenda.nextMs; due !== undefined && due <= seconds * 1000; ) {
      this.now = due;
      this.agenda.take(due)?.();
      due = this.agenda.nextMs;
    }
    const stores = racers.map((racer) => racer.figures(seconds * 1000));
    const writes = stores.reduce((sum, store) => sum + store.writes, 0);
    const writesPerSecond = writes / (seconds - droppedSeconds);
    const { creates, lost, reads } = this;
    return { stores, writesPerSecond, creates, lost, reads };
  }
}

interface Write {
  readonly dueMs: number;
  readonly answered?: () => void;
}

class Racer {
  readonly #scene: Scene;
  readonly #id: number;
  readonly #turns: Turns;
  readonly #latencies: number[] = [];
  #queue: Write[] = [];
  #busy = false;
  #tip = 0;
  #found = 0;
  #lastWin: number;
  #longest = 0;

  constructor(scene: Scene, id: number, load: Load) {
    this.#scene = scene;
    this.#id = id;
    this.#turns = new Turns(String(id), () => scene.random.number(), 0);
    this.#lastWin = scene.options.droppedSeconds * 1000;
    scene.after(id * scene.options.staggerMs, () => this.#begin(load));
  }

  figures(endMs: number): StoreFigures {
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share: number): number =>
      sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
    const longestMs = Math.max(this.#longest, endMs - this.#lastWin);
    return { writes: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), longestMs };
  }

  #begin(load: Load): void {
    const scene = this.#scene;
    if ('perSecond' in load) {
      const arrive = (): void => {
        this.#send({ dueMs: scene.now });
        scene.after((-Math.log(1 - scene.random.number()) * 1000) / load.perSecond, arrive);
      };
      arrive();
      return;
    }
    for (let client = 0; client < load.clients; client++) {
      const send = (): void => {
        this.#send({ dueMs: scene.now, answered: () => scene.after(THINK_MS, send) });
      };
      scene.after(scene.random.number() * 50, send);
    }
  }

  #send(write: Write): void {
    this.#queue.push(write);
    if (this.#busy) return;
    this.#busy = true;
    this.#go();
  }

  #go(): void {
    const scene = this.#scene;
    if (this.#queue.length === 0) {
      this.#busy = false;
      return;
    }
    const move = this.#turns.next(scene.now);
    switch (move.kind) {
      case 'create':
        this.#create();
        return;
      case 'read':
        scene.after(move.ms, () => this.#read());
        return;
      default:
        move satisfies never;
    }
  }

  #create(): void {
    const scene = this.#scene;
    const members = this.#queue.splice(0, scene.options.batchMax);
    const name = this.#tip + 1;
    const slow = scene.random.number() < SLOW_SHARE ? SLOW_FACTOR : 1;
    const ms = scene.time(CREATE_MS, CREATE_SIGMA) * slow;
    scene.creates += 1;
    const act = (): boolean => {
      if (scene.names[name] !== undefined) return false;
      scene.names[name] = this.#id;
      return true;
    };
    scene.request(ms, act, (won) => {
      this.#turns.created(ms);
      if (won) {
        this.#won(name, members);
        return;
      }
      scene.lost += 1;
      this.#queue = [...members, ...this.#queue];
      scene.reads += 1;
      scene.after(scene.time(READ_MS, READ_SIGMA), () => {
        this.#enter(name);
        this.#turns.lost(scene.now);
        scene.after(scene.options.cpuMs, () => this.#go());
      });
    });
  }

  #won(name: number, members: readonly Write[]): void {
    const { now, options } = this.#scene;
    const droppedMs = options.droppedSeconds * 1000;
    this.#enter(name);
    if (now > droppedMs) {
      this.#longest = Math.max(this.#longest, now - this.#lastWin);
      this.#lastWin = now;
    }
    for (const { dueMs, answered } of members) {
      if (dueMs >= droppedMs) this.#latencies.push(now - dueMs);
      answered?.();
    }
    this.#go();
  }

  #read(): void {
    const scene = this.#scene;
    if (this.#found >= READS_BEFORE_LIST) {
      this.#list();
      return;
    }
    scene.reads += 1;
    const name = this.#tip + 1;
    const act = (): boolean => scene.names[name] !== undefined;
    const ms = scene.time(READ_MS, READ_SIGMA);
    scene.request(ms, act, (there) => {
      this.#turns.read(ms);
      this.#found = there ? this.#found + 1 : 0;
      if (there) this.#enter(name);
      else this.#turns.sawNone(scene.now);
      scene.after(there ? scene.options.cpuMs : 0, () => this.#go());
    });
  }

  /** A list, and then all that it names, at once. */
  #list(): void {
    const scene = this.#scene;
    this.#found = 0;
    scene.request(
      LIST_MS,
      () => scene.names.length - 1,
      (upTo) => {
        scene.reads += 1 + Math.max(upTo - this.#tip, 0);
        scene.after(upTo > this.#tip ? READ_MS : 0, () => {
          while (this.#tip < upTo) this.#enter(this.#tip + 1);
          scene.after(scene.options.cpuMs, () => this.#go());
        });
      },
    );
  }

  #enter(name: number): void {
    this.#tip = name;
    this.#turns.saw(String(this.#scene.names[name]), this.#scene.now);
  }
}
