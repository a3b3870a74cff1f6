/**
 * What a network and a service do to one call: drawn from a seed's profile, pure.
 *
 * A fate says three things apart from each other, as they are apart in the world: whether and when
 * the request takes effect, what its caller is told, and how long both travel. Every call draws the
 * same count of numbers whatever the profile, so that a changed profile leaves the draws of later
 * calls as they were.
 */
import type { BlobOperation } from '../../blob/errors.ts';
import type { SimRandom } from './random.ts';

/** Probabilities of the calls that can meet each fault; their sum is below 1. */
export interface FaultProfile {
  /** No effect; the caller is told an error. */
  readonly requestLost: number;
  /** Effect, then the answer is lost: the caller is told an error. */
  readonly answerLost: number;
  /** A create or a delete: an error is told now, the effect comes much later. */
  readonly landsLate: number;
  /** A create: 409, stored or not. */
  readonly conflict: number;
  /** 503, with or without effect. */
  readonly unavailable: number;
  /** The connection breaks, with or without effect. */
  readonly reset: number;
  /** A get or a list: the body does not match its length or checksum. */
  readonly shortRead: number;
  /** No answer at all, with or without effect. */
  readonly stall: number;
  /** A create is sent twice. */
  readonly doubled: number;
  /** A create within 1 s of another attempt on its name: 429, no effect. Not part of the sum. */
  readonly nameThrottle: number;
}

/** What the caller is told in place of an answer. `refused`: no connection, nothing was sent. */
export type Telling =
  | 'reset'
  | 'refused'
  | '503'
  | 'slow down'
  | '409'
  | 'short read'
  /** Nothing, ever. */
  | 'silence';

/** Which fault it was, for the counters; null: none. */
export type FaultName = 'lost request' | 'lost answer' | 'late landing' | 'other' | null;

export interface Fate {
  readonly fault: FaultName;
  /** null: the answer. */
  readonly told: Telling | null;
  /** When the effect takes place: with the request, or so long after it, or never. */
  readonly effect: 'now' | 'late' | 'never';
  /** Of a late effect: how long after the request came in. */
  readonly lateMs: number;
  /** How long the request travels. */
  readonly requestMs: number;
  /** How long the answer, or the news of a failure, travels. */
  readonly answerMs: number;
  /** How long a second copy of the request travels; null: there is none. */
  readonly twinMs: number | null;
  /** Whether it is answered 429 if it is a create too soon after another attempt on its name. */
  readonly throttled: boolean;
  /** How long an answer that asks for less asks to wait, or null. */
  readonly retryAfterMs: number | null;
}

/** What a quiet network does: nothing but delay. */
export const CALM_PROFILE: FaultProfile = {
  requestLost: 0,
  answerLost: 0,
  landsLate: 0,
  conflict: 0,
  unavailable: 0,
  reset: 0,
  shortRead: 0,
  stall: 0,
  doubled: 0,
  nameThrottle: 0,
};

const TYPICAL_PROFILE: FaultProfile = {
  requestLost: 0.008,
  answerLost: 0.01,
  landsLate: 0.012,
  conflict: 0.012,
  unavailable: 0.008,
  reset: 0.006,
  shortRead: 0.006,
  stall: 0.003,
  doubled: 0.02,
  nameThrottle: 0.25,
};

/**
 * A seed's profile: each probability is the typical one times 0 to 2.5 of its own, all of them
 * times the seed's own weather, so that some seeds are quiet and some know one fault only.
 */
export function drawProfile(random: SimRandom): FaultProfile {
  const weather = random.pick([0.3, 1, 1, 1, 2.2]);
  const scaled = (typical: number): number => {
    const own = random.chance(0.1) ? 0 : random.between(0.3, 2.5);
    return Math.min(0.9, typical * own * weather);
  };
  return {
    requestLost: scaled(TYPICAL_PROFILE.requestLost),
    answerLost: scaled(TYPICAL_PROFILE.answerLost),
    landsLate: scaled(TYPICAL_PROFILE.landsLate),
    conflict: scaled(TYPICAL_PROFILE.conflict),
    unavailable: scaled(TYPICAL_PROFILE.unavailable),
    reset: scaled(TYPICAL_PROFILE.reset),
    shortRead: scaled(TYPICAL_PROFILE.shortRead),
    stall: scaled(TYPICAL_PROFILE.stall),
    doubled: scaled(TYPICAL_PROFILE.doubled),
    nameThrottle: scaled(TYPICAL_PROFILE.nameThrottle),
  };
}

/** The faults of a run, which can be switched off for its end. */
export class Faults {
  readonly #profile: FaultProfile;
  #calm = false;

  constructor(profile: FaultProfile) {
    this.#profile = profile;
  }

  /** What is in force. */
  get profile(): FaultProfile {
    return this.#calm ? CALM_PROFILE : this.#profile;
  }

  /** From now on nothing fails and all delays are short. What was sent meets the fate it had. */
  calm(): void {
    this.#calm = true;
  }

  /** The fate of one call, whatever its key. Always draws seven numbers. */
  fateOf(operation: BlobOperation, random: SimRandom, _key = ''): Fate {
    const which = random.number();
    const how = random.number();
    const late = random.number();
    const requestMs = this.#delayMs(random.number());
    const answerMs = this.#delayMs(random.number());
    const twinMs = this.#delayMs(random.number());
    const throttle = random.number();
    const way = wayOf(this.profile, operation, which, how);
    return {
      fault: way.fault ?? null,
      told: way.told ?? null,
      effect: way.effect ?? 'now',
      lateMs: way.effect === 'late' ? lateMsOf(late) : 0,
      requestMs,
      answerMs,
      twinMs: way.doubled === true ? twinMs : null,
      throttled: throttle < this.profile.nameThrottle,
      retryAfterMs: late < 0.25 ? 1000 : null,
    };
  }

  #delayMs(draw: number): number {
    if (this.#calm) return 5 + 55 * draw;
    if (draw < 0.93) return 5 + 55 * (draw / 0.93);
    if (draw < 0.99) return 100 + 2_900 * ((draw - 0.93) / 0.06);
    return 5_000 + 15_000 * ((draw - 0.99) / 0.01);
  }
}

interface Way {
  readonly fault?: FaultName;
  readonly told?: Telling;
  readonly effect?: 'late' | 'never';
  readonly doubled?: boolean;
}

const WELL: Way = {};

/**
 * One way out of all: `which` falls into the first of their probabilities, laid end to end, that
 * reaches beyond it; `how` decides within the way.
 */
function wayOf(profile: FaultProfile, operation: BlobOperation, which: number, how: number): Way {
  let reach = profile.requestLost;
  if (which < reach) return { fault: 'lost request', told: lostBy(how), effect: 'never' };
  reach += profile.answerLost;
  if (which < reach) return { fault: 'lost answer', told: brokenBy(how) };
  reach += profile.unavailable;
  if (which < reach) return halfOf(how % 0.5 < 0.1 ? 'slow down' : '503', how);
  reach += profile.reset;
  if (which < reach) return halfOf('reset', how);
  reach += profile.stall;
  if (which < reach) return halfOf('silence', how);
  return wayOfKind(profile, operation, which - reach, how);
}

/** The faults that only some operations meet. */
function wayOfKind(
  profile: FaultProfile,
  operation: BlobOperation,
  which: number,
  how: number,
): Way {
  switch (operation) {
    case 'create': {
      const { conflict, doubled, landsLate } = profile;
      if (which < conflict) return halfOf('409', how);
      if (which < conflict + doubled) return { doubled: true };
      return which < conflict + doubled + landsLate ? lands(how) : WELL;
    }
    case 'delete':
    case 'replace':
      return which < profile.landsLate ? lands(how) : WELL;
    case 'get':
    case 'list':
      return which < profile.shortRead ? { fault: 'other', told: 'short read' } : WELL;
    case 'head':
      return WELL;
  }
}

/** A fault of which one half has no effect, and the other has. */
function halfOf(told: Telling, how: number): Way {
  return how < 0.5 ? { fault: 'other', told, effect: 'never' } : { fault: 'other', told };
}

function lands(how: number): Way {
  return { fault: 'late landing', told: brokenBy(how), effect: 'late' };
}

function lostBy(how: number): Telling {
  return how < 0.15 ? 'refused' : brokenBy((how - 0.15) / 0.85);
}

function brokenBy(how: number): Telling {
  if (how < 0.5) return 'reset';
  return how < 0.8 ? '503' : 'silence';
}

/**
 * Three in ten while the caller still asks what became of it, else 1 to 30 s; one in ten up to 20
 * minutes, one in fifty up to 3 hours.
 */
function lateMsOf(draw: number): number {
  if (draw < 0.3) return 100 + 900 * (draw / 0.3);
  if (draw < 0.88) return 1_000 + 29_000 * ((draw - 0.3) / 0.58);
  if (draw < 0.98) return 30_000 + 1_170_000 * ((draw - 0.88) / 0.1);
  return 1_200_000 + 9_600_000 * ((draw - 0.98) / 0.02);
}
