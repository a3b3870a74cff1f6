/** What of a long trace concerns a violation. */
import type { Violation } from './history.ts';

const LINES_MAX = 250;
/** Where a process stands, whatever the violation is about. */
const ALWAYS = /^\d+ s\d+\.\d+ (crash|pause|hidden pause|monotonic pause|clock jump|open) /;
const NAMED = /_demarkus\/[\w./-]+|[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}|\/[\w./-]+/g;

/**
 * The lines of a trace that name a key, a document or an operation that the violation names, and
 * what became of the processes; all lines of a short trace.
 */
export function excerpt(lines: readonly string[], { detail }: Violation): readonly string[] {
  if (lines.length <= LINES_MAX) return lines;
  const names = detail.match(NAMED) ?? [];
  const about = lines.filter((line) => {
    return ALWAYS.test(line) || names.some((name) => line.includes(name));
  });
  // A violation that names nothing is at the end, as a rule.
  const kept = names.length === 0 ? lines : about;
  const last = kept.slice(-LINES_MAX);
  return [`… ${lines.length - last.length} of ${lines.length} lines left out`, ...last];
}
