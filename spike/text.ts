/** The report of a load as lines for a person. */
import { MODEL_C_MS } from './idle.ts';
import type { OverloadReport, Percentiles, Report } from './report.ts';
import type { RssSample } from './watch.ts';

/** The lines that a run prints when it is done. */
export function reportLines(report: Report): readonly string[] {
  const { reads } = report;
  const lines = [...headLines(report), `${report.measured.padEnd(12)} ${percentilesLine(report)}`];
  if (reads !== null && report.measured !== 'reads') {
    lines.push(`reads        ${percentilesLine(reads)}`);
  }
  if (report.measured !== 'reads') lines.push(...writeLines(report));
  if (reads !== null) {
    lines.push(
      `reads        ${reads.count} in ${report.seconds} s, ${rate(reads.per_s)} a second, ` +
        `${reads.stale} stale`,
      `per read     ${kinds(reads.requests_per_read)}`,
    );
  }
  const request = kinds(report.request_errors) || 'none';
  lines.push(
    `errors       ${kinds(report.errors) || 'none'}; requests: ${request}; ` +
      `429: ${report.throttled}`,
    ...overloadLines(report.overload),
    memoryLine(report.rss),
    ...loopLines(report.event_loop_delay_p999_ms),
    `read back    ${readBackWords(report.lost_acknowledged)}`,
  );
  if (report.interrupted) {
    lines.push(`INTERRUPTED: the figures are of the ${report.seconds} s until then`);
  }
  return [...lines, ...voidLines(report)];
}

/** What a report is of. */
type Headed = Pick<
  Report,
  'scenario' | 'location' | 'model' | 'seed' | 'machine' | 'date' | 'command' | 'c_ms' | 'valid'
>;

/** What every report begins with. */
export function headLines(report: Headed): readonly string[] {
  const { scenario, location, model, seed, machine, date, command, c_ms } = report;
  return [
    `${scenario} on ${location}, model ${model ?? 'none'}, seed ${seed}`,
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${date}`,
    command,
    '',
    `c            ${ms(c_ms)} (median of 200 creates of 1 KiB, one after another, idle)`,
  ];
}

/** What every report of a run that says nothing ends with. */
export function voidLines({ valid }: Pick<Headed, 'valid'>): readonly string[] {
  return valid ? [] : [`VOID: with the model c lies in ${MODEL_C_MS.join(' to ')} ms`];
}

/** How late the event loop was, where it was measured. */
export function loopLines(delayMs: number | null): readonly string[] {
  return delayMs === null ? [] : [`event loop   p99.9 ${ms(delayMs)} late`];
}

export function readBackWords(lost: number | null): string {
  return lost === null
    ? 'not to its end: it is not known what is lost'
    : `${lost} acknowledged lost`;
}

function overloadLines(overload: OverloadReport | null): readonly string[] {
  if (overload === null) return [];
  const { refused, refused_p99_ms, refused_max_ms } = overload;
  const { deadline_ms, overdue, late_acknowledged, answer_max_ms } = overload;
  const lines =
    refused === 0
      ? []
      : [
          `refused      ${refused} at once, p99 ${ms(refused_p99_ms)} after arrival, ` +
            `max ${ms(refused_max_ms)}`,
        ];
  return [
    ...lines,
    `deadline     ${deadline_ms} ms: ${overdue} without an answer by then, ` +
      `${late_acknowledged} acknowledged later; longest answer ${ms(answer_max_ms)}`,
  ];
}

/** Where a store's memory has settled, s: what comes later is held against that. */
const SETTLED_SECONDS = 120;

export function memoryLine(rss: readonly RssSample[]): string {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const last = rss.at(-1) ?? [0, 0];
  const [first = last] = rss;
  const base = rss.find(([seconds]) => seconds >= SETTLED_SECONDS) ?? first;
  const ratio = (last[1] / base[1]).toFixed(3);
  return (
    `memory       RSS ${megabytes(base[1])} MB at ${base[0]} s, ` +
    `${megabytes(last[1])} MB at ${last[0]} s: ${ratio} of it`
  );
}

/** Creates a second and latency of every second. */
export function rampLines({ per_second }: Report): readonly string[] {
  const row = (cells: readonly (string | number)[]): string => {
    return cells.map((cell) => String(cell).padStart(9)).join(' ');
  };
  return [
    row(['second', 'count', 'p50 ms', 'p99 ms', 'max ms']),
    ...per_second.map(({ second, count, p50Ms, p99Ms, maxMs }) => {
      return row([second, count, ...[p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1))]);
    }),
  ];
}

function writeLines(report: Report): readonly string[] {
  const { stores, usd_per_million_writes: usd } = report;
  const cost = usd === null ? 'n/a' : `S3 ${usd.s3.toFixed(2)}, GCS ${usd.gcs.toFixed(2)} USD`;
  const lines = [
    `rate         ${report.writes} in ${report.seconds} s, ${rate(report.writes_per_s)} a second`,
    `per write    ${figure(report.objects_per_write, 4)} objects, ` +
      `${figure(report.bytes_per_write, 0)} bytes sent, ` +
      `${figure(report.bytes_read_per_write, 0)} read; ${kinds(report.requests_per_write)}`,
    `cost         ${cost} for the requests of a million (list prices)`,
    `cpu          ${figure(report.cpu_us_per_write, 0)} µs a write, with the load generator`,
    `slots        ${report.slots}, lost to another store: ${report.slots_lost}`,
    `checkpoints  ${report.checkpoints}, of ${report.checkpoint_objects} objects, ` +
      `${(report.checkpoint_bytes / 1e6).toFixed(1)} MB`,
  ];
  if (stores.length < 2) return lines;
  const each = stores.map(({ store, writes, share, p50_c, p99_c, p99_ms }) => {
    const percent = ((share ?? 0) * 100).toFixed(1);
    const latency = `p50 ${c(p50_c)}, p99 ${c(p99_c)} = ${ms(p99_ms)}`;
    return `store        ${store.slice(0, 8)} ${writes} writes, ${percent} %, ${latency}`;
  });
  return [...lines, ...each];
}

function percentilesLine(of: Percentiles): string {
  const rows = [
    ['p50', of.p50_ms, of.p50_c],
    ['p90', of.p90_ms, of.p90_c],
    ['p99', of.p99_ms, of.p99_c],
    ['p99.9', of.p999_ms, of.p999_c],
  ] as const;
  return rows.map(([name, inMs, inC]) => `${name} ${ms(inMs)} = ${c(inC)}`).join('; ');
}

export function kinds(counts: Readonly<Record<string, number>> | null): string {
  return Object.entries(counts ?? {})
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

export interface KeyFigure {
  readonly name: string;
  readonly value: string;
  /** The same otherwise. */
  readonly note?: string;
}

/** The figures that say most. */
export function keyFigures(report: Report): readonly KeyFigure[] {
  const { measured, usd_per_million_writes: usd, reads } = report;
  const percentile = (name: string, inMs: number | null, inC: number | null): KeyFigure => {
    return { name: `${name} of ${measured}`, value: ms(inMs), note: c(inC) };
  };
  const perSecond = measured === 'reads' ? (reads?.per_s ?? 0) : report.writes_per_s;
  const writes: readonly KeyFigure[] = [
    { name: 'objects a write', value: figure(report.objects_per_write, 4) },
    { name: 'a million writes', value: usd === null ? 'n/a' : `${usd.gcs.toFixed(2)} USD` },
    { name: 'CPU a write', value: `${figure(report.cpu_us_per_write, 0)} µs` },
    { name: 'names lost', value: String(report.slots_lost) },
  ];
  return [
    { name: 'c', value: ms(report.c_ms), note: 'a create, idle' },
    percentile('p50', report.p50_ms, report.p50_c),
    percentile('p99', report.p99_ms, report.p99_c),
    percentile('p99.9', report.p999_ms, report.p999_c),
    { name: `${measured} a second`, value: rate(perSecond) },
    ...(measured === 'reads' ? [] : writes),
    { name: '429s', value: String(report.throttled) },
    { name: 'acknowledged lost', value: String(report.lost_acknowledged ?? 'not known') },
  ];
}

export function ms(value: number | null): string {
  return value === null ? 'n/a' : `${value.toFixed(1)} ms`;
}

export function c(value: number | null): string {
  return value === null ? 'n/a' : `${value.toFixed(2)} c`;
}

export function rate(perSecond: number): string {
  return figure(perSecond, perSecond < 100 ? 1 : 0);
}

/** With so many digits behind the point, or none where there is no figure. */
export function figure(value: number | null, digits: number): string {
  return value === null ? 'n/a' : value.toFixed(digits);
}
