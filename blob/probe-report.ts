/** The probe's report as text for a person. Pure; as JSON the report is its own rendering. */
import type { Guarantee, ProbeReport } from './probe.ts';

/**
 * The report as a table, one line per guarantee, then what to do: lines without line ends, plain
 * ASCII marks, columns padded to fit.
 */
export function probeReportLines(report: ProbeReport): readonly string[] {
  const rows = report.guarantees.map(({ name, needed, holds, detail }) => [
    name,
    verdict(holds),
    needed,
    detail,
  ]);
  const table = [['guarantee', 'holds', 'needed', 'seen'], ...rows];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...table.map((cells) => (cells[column] ?? '').length)),
  );
  const lines = table.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const advice = adviceLines(report.guarantees);
  const permissions = report.missingPermissions.map(
    ({ operation, gcs, s3 }) => `missing permission (${operation}): ${gcs}, on S3 ${s3}`,
  );
  const leftovers = report.leftovers.map((key) => `left behind, safe to delete: ${key}`);
  return [
    `${report.requests} requests to ${report.location}`,
    '',
    ...lines,
    ...[...advice, ...permissions, ...leftovers].flatMap((line, i) =>
      i === 0 ? ['', line] : line,
    ),
  ];
}

/** What to do, each said once with all that it would mend. */
function adviceLines(guarantees: readonly Guarantee[]): readonly string[] {
  const mended = new Map<string, string[]>();
  for (const { name, advice } of guarantees) {
    if (advice !== '') mended.set(advice, [...(mended.get(advice) ?? []), name]);
  }
  return [...mended].map(([advice, names]) => {
    return `${names.length === guarantees.length ? 'all' : names.join(', ')}: ${advice}`;
  });
}

function verdict(holds: Guarantee['holds']): string {
  if (holds === 'not tried') return holds;
  return holds ? 'yes' : 'NO';
}
