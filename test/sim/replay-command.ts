/** How somebody sees again what a seed has shown. */

/** The exact command. @param mutant null for the sound store */
export function replayCommand(seed: number, mutant: string | null = null): string {
  const command = `npm run sim -- --seeds 1 --seed ${seed}`;
  return mutant === null ? command : `${command} --mutant ${mutant}`;
}
