/** The report as one page that needs nothing else: latency over time and its distribution. */
import type { Bar, Second } from './measure.ts';
import type { Report } from './report.ts';
import { reportLines } from './text.ts';

const WIDTH = 760;
const HEIGHT = 260;
const LEFT = 60;
const BOTTOM = 40;
const TOP = 16;
const GRID_LINES = 4;

const STYLE = `
body{font:15px/1.5 system-ui,sans-serif;max-width:800px;margin:2em auto;padding:0 1em}
pre{background:#f4f4f4;padding:1em;overflow:auto}svg{width:100%;height:auto}
text{font-size:12px;fill:#555}.grid{stroke:#ddd}.p50{stroke:#1565c0;fill:none}
.p99{stroke:#c62828;fill:none}.rate{stroke:#2e7d32;fill:none}.bar{fill:#1565c0}`;

/** One HTML document. @param bars of the measured latencies */
export function htmlPage(report: Report, bars: readonly Bar[]): string {
  const title = escaped(`${report.scenario} on ${report.location}`);
  const seconds = report.per_second.filter(({ count }) => count > 0);
  const latency = lineChart('second', [
    { name: 'p50 ms', style: 'p50', points: pointsOf(seconds, ({ p50Ms }) => p50Ms) },
    { name: 'p99 ms', style: 'p99', points: pointsOf(seconds, ({ p99Ms }) => p99Ms) },
  ]);
  const rate = lineChart('second', [
    {
      name: `${report.measured} a second`,
      style: 'rate',
      points: pointsOf(report.per_second, ({ count }) => count),
    },
  ]);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1>
<pre>${escaped(reportLines(report).join('\n'))}</pre>
<h2>Latency over time</h2>${latency}
<h2>Rate over time</h2>${rate}
<h2>Distribution of latency, ms</h2>${barChart(bars)}
</body></html>
`;
}

type Point = readonly [x: number, y: number];

interface Line {
  readonly name: string;
  readonly style: string;
  readonly points: readonly Point[];
}

function pointsOf(seconds: readonly Second[], value: (second: Second) => number): readonly Point[] {
  return seconds.map((second) => [second.second, value(second)]);
}

function lineChart(label: string, lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points);
  const xMax = Math.max(1, ...points.map(([x]) => x));
  const yMax = Math.max(Number.MIN_VALUE, ...points.map(([, y]) => y));
  const drawn = lines.map(({ name, style, points: own }, index) => {
    const path = own.map(([x, y]) => `${xAt(x / xMax)},${yAt(y / yMax)}`).join(' ');
    const legend = `<text x="${LEFT + 10 + index * 120}" y="${TOP - 4}">${escaped(name)}</text>`;
    const mark = `<line class="${style}" x1="${LEFT - 8 + index * 120}" y1="${TOP - 8}"`;
    const markEnd = ` x2="${LEFT + 6 + index * 120}" y2="${TOP - 8}" stroke-width="2"/>`;
    return `<polyline class="${style}" points="${path}"/>${mark}${markEnd}${legend}`;
  });
  return framed(axis(yMax, '0', `${xMax} (${label})`) + drawn.join(''));
}

function barChart(bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const drawn = bars.map(({ fromMs, toMs, count }, index) => {
    const x = xAt(index / bars.length);
    const y = yAt(count / most);
    const width = rounded((WIDTH - LEFT) / bars.length - 1);
    const height = rounded(HEIGHT - BOTTOM - y);
    const title = `${fromMs.toFixed(2)} to ${toMs.toFixed(2)} ms: ${count}`;
    return (
      `<rect class="bar" x="${x}" y="${y}" width="${width}" height="${height}">` +
      `<title>${title}</title></rect>`
    );
  });
  const from = (bars[0]?.fromMs ?? 0).toFixed(1);
  const to = `${(bars.at(-1)?.fromMs ?? 0).toFixed(1)} and more (p99.9)`;
  return framed(axis(most, from, to) + drawn.join(''));
}

function framed(content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${content}</svg>`;
}

function axis(yMax: number, from: string, to: string): string {
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, index) => {
    const y = yAt(index / GRID_LINES);
    const value = Number(((yMax * index) / GRID_LINES).toPrecision(3));
    return (
      `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}"/>` +
      `<text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${value}</text>`
    );
  });
  const y = HEIGHT - BOTTOM + 18;
  const ends =
    `<text x="${LEFT}" y="${y}">${escaped(from)}</text>` +
    `<text x="${WIDTH}" y="${y}" text-anchor="end">${escaped(to)}</text>`;
  return grid.join('') + ends;
}

/** @param share 0 to 1, from the left */
function xAt(share: number): number {
  return rounded(LEFT + share * (WIDTH - LEFT));
}

/** @param share 0 to 1, from below */
function yAt(share: number): number {
  return rounded(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP));
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
