/**
 * CRC-32C (Castagnoli), the checksum that GCS keeps of every object. Eight table look-ups for eight
 * bytes at a time: an 8 MiB range must not hold the event loop for long.
 */

const POLYNOMIAL = 0x82f63b78;
const TABLES: readonly Int32Array[] = buildTables();

/** The checksum as GCS writes it: four bytes, big endian, base64. */
export function crc32cBase64(bytes: Uint8Array): string {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(crc32c(bytes));
  return out.toString('base64');
}

/** The checksum as an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as unknown as Tables;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let crc = -1;
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    const low = view.getInt32(at, true) ^ crc;
    const high = view.getInt32(at + 4, true);
    crc =
      look(t7, low) ^
      look(t6, low >>> 8) ^
      look(t5, low >>> 16) ^
      look(t4, low >>> 24) ^
      look(t3, high) ^
      look(t2, high >>> 8) ^
      look(t1, high >>> 16) ^
      look(t0, high >>> 24);
  }
  for (; at < bytes.length; at++) crc = look(t0, crc ^ view.getUint8(at)) ^ (crc >>> 8);
  return ~crc >>> 0;
}

type Table = Int32Array;
type Tables = readonly [Table, Table, Table, Table, Table, Table, Table, Table];

function look(table: Table, byte: number): number {
  return table[byte & 0xff] ?? 0;
}

/** Table k holds the checksum of a byte followed by k zero bytes. */
function buildTables(): readonly Int32Array[] {
  const tables = [new Int32Array(256)];
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    (tables[0] as Int32Array)[byte] = crc;
  }
  for (let k = 1; k < 8; k++) {
    const previous = tables[k - 1] as Int32Array;
    tables.push(previous.map((crc) => (crc >>> 8) ^ look(tables[0] as Int32Array, crc)));
  }
  return tables;
}
