/** Whether an object is still held by somebody: garbage is collected on demand. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { drain } from './manual-clock.ts';

/** Whether an object that the test itself does not hold is still reachable. */
export async function isHeld(reference: WeakRef<object>): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  for (let i = 0; i < 3; i++) {
    // A weak reference keeps its object until the turn ends in which it was made or asked.
    await drain();
    collectGarbage();
  }
  return reference.deref() !== undefined;
}
