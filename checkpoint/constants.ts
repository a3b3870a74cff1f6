/** Sizes that are part of format 1: changed only with a new number. */

/** Sequences of a unit: what runs and packs are measured in. */
export const UNIT = 1024;
/** A run is this many times as long as those it is made of. */
export const RUN_FACTOR = 8;
/** A base is at least so many units after the one before. */
export const BASE_UNITS_MIN = 16;
/** A segment is cut behind the first path of the right hash at or beyond this, entry bytes. */
export const SEGMENT_BYTES_MIN = 2_097_152;
/** Entry bytes of a segment at most. */
export const SEGMENT_BYTES_MAX = 8_388_608;
/** The right hash: the first 32 bits of the path's SHA-256 are a multiple of this. */
export const SEGMENT_CUT_MODULUS = 2048;
/** What is read and hashed at once of a segment, bytes. */
export const BLOCK_BYTES = 65_536;
/** A pack at most, bytes. */
export const PACK_BYTES_MAX = 4_194_304;
/** Versions of a closed history block. */
export const HISTORY_VERSIONS = 256;
/** A root at most, bytes: it names a quarter of a million packs. */
export const ROOT_BYTES_MAX = 67_108_864;
