/** Documents that are only many: small, of few versions, each given by the seed and a number. */
import { SeededRandom } from '../support/seeded-random.ts';
import { contentOf, type DocumentPlan, type OldContent, type OldOperation } from './plan.ts';

const WORDS: readonly string[] = (
  'bucket store log slot index shard page note river stone winter summer light paper engine ' +
  'garden window letter market bridge signal harbour copper violet meadow lantern'
).split(' ');

export class PlainDocument implements DocumentPlan {
  readonly kind = 'plain';
  readonly path: string;
  readonly operations: readonly OldOperation[];
  readonly #seed: number;

  constructor(seed: number, number: number) {
    const random = new SeededRandom(seed).derive(`document ${number}`);
    this.#seed = random.bits();
    const folder = `/area-${random.integer(40)}/${random.pick(WORDS)}-${random.integer(30)}`;
    this.path = `${folder}/${random.pick(WORDS)}-${String(number).padStart(6, '0')}.md`;
    this.operations = drawOperations(random);
  }

  content(version: number): OldContent {
    const random = new SeededRandom(this.#seed);
    const title = `${random.pick(WORDS)} and ${random.pick(WORDS)}`;
    const paragraphs = Array.from({ length: version + 1 }, () => drawParagraph(random));
    const metadata = new Map<string, string>();
    if (random.number() < 0.8) {
      metadata.set('type', 'Document');
      metadata.set('tags', `area:${random.pick(WORDS)}, ${random.pick(WORDS)}`);
      metadata.set('importance', `0.${1 + random.integer(99)}`);
      if (random.number() < 0.5) metadata.set('title', title);
      if (random.number() < 0.3) metadata.set('agent', `agent-${random.integer(9)}`);
    }
    return contentOf(`# ${title}\n\n${paragraphs.join('\n')}`, metadata);
  }
}

const ONCE: readonly OldOperation[] = ['publish'];
const TWICE: readonly OldOperation[] = ['publish', 'publish'];
const THRICE: readonly OldOperation[] = ['publish', 'append', 'append'];
const ARCHIVED: readonly OldOperation[] = ['publish', 'archive'];
const REVIVED: readonly OldOperation[] = ['publish', 'archive', 'unarchive'];

function drawOperations(random: SeededRandom): readonly OldOperation[] {
  const chance = random.number();
  if (chance < 0.75) return ONCE;
  if (chance < 0.88) return TWICE;
  if (chance < 0.95) return THRICE;
  return chance < 0.98 ? ARCHIVED : REVIVED;
}

function drawParagraph(random: SeededRandom): string {
  const words = Array.from({ length: 6 + random.integer(20) }, () => random.pick(WORDS));
  return `${words.join(' ')}.\n`;
}
