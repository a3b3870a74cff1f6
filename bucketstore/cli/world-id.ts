/** Which world a location must hold, where a command is told so. */
import { StoreError } from '../base/errors.ts';
import { isUuid } from '../base/uuid.ts';
import { readMarker } from '../genesis.ts';
import { otherWorld } from '../log/format.ts';
import { withBucket } from '../with-bucket.ts';
import { type CommandContext, type Flag, textFlag } from './command.ts';

/** The flag of commands that read a world. */
export const WORLD_ID_FLAG: Flag = {
  type: 'string',
  value: 'UUID',
  help: 'The world that must be there; another is refused.',
};

/** What `--world-id` says; undefined when it was not given. @throws StoreError `USAGE` */
export function worldIdFlag(context: CommandContext): string | undefined {
  const worldId = textFlag(context, 'world-id');
  if (worldId === undefined || isUuid(worldId)) return worldId;
  throw new StoreError('USAGE', `--world-id is a lower-case UUID, got "${worldId}"`);
}

/**
 * Refuses another world of schema 2 than was asked for. One `get`, and none when none was.
 * @throws StoreError `LOCATION`; as `readMarker`
 */
export async function assertWorldId(context: CommandContext, location: string): Promise<void> {
  const asked = worldIdFlag(context);
  if (asked === undefined) return;
  const { components, signal } = context;
  await withBucket(location, { components, signal }, async (bucket) => {
    const found = await readMarker({ bucket, signal });
    if (found === null || found.marker.worldId === asked) return;
    throw otherWorld(bucket.name, found.marker.worldId, asked);
  });
}
