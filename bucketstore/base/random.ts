/** Chance and identity as an injected thing: the only file of the library that draws randomness. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1); for jitter, never for identity. */
  number(): number;
  /** A random version 4 UUID, for identities: stores, worlds, operations. */
  uuid(): string;
}

/** The machine's cryptographic randomness. */
export const systemRandom: Random = {
  number: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  // Written out and read again: what Node makes is a rope of twenty pieces, half a kilobyte, which
  // the first map it is put in must make flat.
  uuid: () => Buffer.from(randomUUID(), 'latin1').toString('latin1'),
};
