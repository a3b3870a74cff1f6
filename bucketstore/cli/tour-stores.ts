/** The steps of the tour that need several stores of one world at once. */
import { isStoreError } from '../base/errors.ts';
import { decodeUtf8 } from '../document/text.ts';
import { openWorld } from '../open.ts';
import type { World } from '../world.ts';
import type { CommandContext } from './command.ts';

const RACERS = 8;

/** One store writes, another reads. @throws Error when it does not see the write */
export async function readAtOnce(context: CommandContext, location: string): Promise<string> {
  return withStores(context, location, 2, async ([writer, reader]) => {
    if (writer === undefined || reader === undefined) throw new Error('two stores were opened');
    const path = '/tour/two-stores.md';
    const { sequence } = await writer.publish({ path, expected: 'any', body: 'written by one\n' });
    await using view = reader.view();
    const body = decodeUtf8((await view.get(path)).body);
    if (body !== 'written by one\n') throw new Error(`the other store read ${body}`);
    return (
      `  store ${writer.storeId} committed ${path} at sequence ${sequence}\n` +
      `  store ${reader.storeId} read it: ${body.trim()}`
    );
  });
}

/** Many stores create one document. @throws Error unless one wins and all others are told */
export async function raceForOneName(context: CommandContext, location: string): Promise<string> {
  return withStores(context, location, RACERS, async (stores) => {
    const path = '/tour/race.md';
    const answers = await Promise.all(
      stores.map(async (store, index) => {
        try {
          await store.publish({ path, expected: 'absent', body: `store ${index}\n` });
          return 'committed';
        } catch (error) {
          if (isStoreError(error)) return error.code;
          throw error;
        }
      }),
    );
    const winners = answers.flatMap((answer, index) => (answer === 'committed' ? [index] : []));
    const losers = answers.filter((answer) => answer === 'CONFLICT').length;
    const [first] = stores;
    await using view = first?.view();
    const body = decodeUtf8((await view?.get(path))?.body ?? new Uint8Array());
    if (winners.length !== 1 || losers !== RACERS - 1 || body !== `store ${winners[0]}\n`) {
      throw new Error(`answers ${answers.join(', ')}; the document says ${body}`);
    }
    return `  ${answers.map((answer, index) => `store ${index}: ${answer}`).join('\n  ')}`;
  });
}

async function withStores(
  { components, signal }: CommandContext,
  location: string,
  count: number,
  use: (stores: readonly World[]) => Promise<string>,
): Promise<string> {
  const stores: World[] = [];
  try {
    for (let i = 0; i < count; i++) stores.push(await openWorld(location, { components, signal }));
    return await use(stores);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}
