/**
 * What a trickle of one write a second costs in checkpoints:
 *
 *     node --import tsx test/store/trickle-month.ts [DAYS] [DOCUMENTS]
 *
 * Virtual time: a month of 10,000 documents, which is what it does by itself, takes some of an hour
 * and about 2 GiB.
 */
import { trickle } from './trickle.ts';

const [days = '30', documents = '10000'] = process.argv.slice(2);
if (!(Number(days) > 0) || !/^\d+$/.test(documents)) {
  console.error('usage: trickle-month.ts [DAYS] [DOCUMENTS]');
  process.exit(2);
}
const told = await trickle({
  seconds: Math.round(Number(days) * 86_400),
  documents: Number(documents),
  progress: (line) => console.error(line),
});
const amplification = told.derivedBytes / told.slotBytes;
console.log(JSON.stringify({ days: Number(days), ...told, amplification }, null, 2));
