/** The report as one page that needs nothing else: figures, and what they were over time. */
import { barChart, escaped, type Line, lineChart } from './chart.ts';
import type { Bar, Second } from './measure.ts';
import type { Report } from './report.ts';
import { type KeyFigure, keyFigures, reportLines } from './text.ts';
import type { CompactFigures, WorldReport } from './world-report.ts';
import { worldFigures, worldLines } from './world-text.ts';

const STYLE = `
:root{color-scheme:light dark;--back:#fff;--ink:#1a1a1a;--soft:#5c5c5c;--box:#f3f4f6;--grid:#dcdfe4;
--blue:#1565c0;--red:#c62828;--green:#2e7d32;--violet:#6a1b9a}
@media(prefers-color-scheme:dark){:root{--back:#14161a;--ink:#e8e8e8;--soft:#a3a8b0;--box:#20242b;
--grid:#363c46;--blue:#64b5f6;--red:#ef7f7a;--green:#81c784;--violet:#ce93d8}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:860px;
margin:0 auto;padding:1.5em 1em 3em}
h1{font-size:1.5em;margin:0 0 .2em;overflow-wrap:anywhere}h2{font-size:1.1em;margin:2em 0 .3em}
.where{color:var(--soft);margin:0 0 1.2em;overflow-wrap:anywhere}
.bad{background:var(--red);color:var(--back);padding:.5em 1em;border-radius:6px;font-weight:600}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:10px;margin:0 0 1em}
dl div{background:var(--box);border-radius:6px;padding:.6em .8em}
dt{color:var(--soft);font-size:.85em}dd{margin:0;font-size:1.15em;font-weight:600}
dd.note{font-size:.95em;font-weight:400}
pre{background:var(--box);border-radius:6px;padding:1em;white-space:pre-wrap;
overflow-wrap:anywhere;font-size:.85em}
figure{margin:0}figcaption,.unit,.note{color:var(--soft);font-size:.85em;margin:0}
.unit{text-align:right}
svg{display:block;width:100%;height:auto;overflow:visible}text{font-size:13px;fill:var(--soft)}
.grid,.tick{stroke:var(--grid)}polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}
.p50{stroke:var(--blue);color:var(--blue)}.p99{stroke:var(--red);color:var(--red)}
.rate{stroke:var(--green);color:var(--green)}.rss{stroke:var(--violet);color:var(--violet)}
.c{stroke:var(--soft);color:var(--soft);stroke-dasharray:5 4}rect{fill:var(--blue)}
.legend{margin:.2em 0;font-size:.85em}.legend span{margin-right:1.2em}
.legend span::before{content:"";display:inline-block;width:1.4em;margin-right:.4em;
border-top:2px solid currentColor;vertical-align:middle}.legend .c::before{border-top-style:dashed}
@media(max-width:560px){text{font-size:24px}polyline{stroke-width:3}}`;

/** One HTML document of a load. @param bars of the measured latencies */
export function htmlPage(report: Report, bars: readonly Bar[]): string {
  const { measured } = report;
  const charts = `<h2>Latency of ${measured}, by second</h2>${latencyChart(report)}
<h2>Rate</h2>${rateChart(report)}
<h2>Distribution of latency</h2>${barChart(measured, bars)}
<p class="note">The last bar holds everything above p99.9.</p>
<h2>Memory of the process (RSS), from the start of the load</h2>${memoryChart(report)}`;
  return page(report, { figures: keyFigures(report), charts, lines: reportLines(report) });
}

/** One HTML document of a large world. */
export function worldPage(report: WorldReport): string {
  const charts =
    report.scenario === 'compact'
      ? `<h2>Checkpoints</h2>${checkpointChart(report)}
<h2>Memory of the process (RSS), from the start of the load</h2>${memoryChart(report)}`
      : '';
  return page(report, { figures: worldFigures(report), charts, lines: worldLines(report) });
}

interface Content {
  readonly figures: readonly KeyFigure[];
  readonly charts: string;
  readonly lines: readonly string[];
}

function page(report: Report | WorldReport, content: Content): string {
  const title = escaped(`${report.scenario} on ${report.location}`);
  const { machine, date, command } = report;
  const where = `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${date}`;
  const figures = content.figures.map(({ name, value, note }) => {
    const more = note === undefined ? '' : `<dd class="note">${escaped(note)}</dd>`;
    return `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>${more}</div>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1>
<p class="where">${escaped(where)}<br><code>${escaped(command)}</code></p>
${warnings(report)}<dl>${figures.join('')}</dl>
${content.charts}
<h2>All figures</h2><pre>${escaped(content.lines.join('\n'))}</pre>
</body></html>
`;
}

function warnings(report: Report | WorldReport): string {
  const { lost_acknowledged: lost, valid, interrupted, seconds } = report;
  const words = [
    ...(lost !== null && lost > 0 ? [`${lost} acknowledged writes are lost`] : []),
    ...(valid ? [] : ['Void: c is not that of the model, something else held the machine']),
    ...(interrupted ? [`Interrupted after ${seconds} measured seconds`] : []),
  ];
  return words.map((text) => `<p class="bad">${escaped(text)}</p>\n`).join('');
}

function latencyChart({ per_second, c_ms, seconds }: Report): string {
  const measured = per_second.filter(({ count }) => count > 0);
  return lineChart('ms', seconds, [
    line('p50', 'p50', measured, ({ p50Ms }) => p50Ms),
    line('p99', 'p99', measured, ({ p99Ms }) => p99Ms),
    {
      name: `c = ${c_ms.toFixed(1)} ms`,
      style: 'c',
      points: [
        [0, c_ms],
        [seconds, c_ms],
      ],
    },
  ]);
}

function rateChart({ per_second, measured, seconds }: Report): string {
  // What is left of a last second says nothing of a rate.
  const whole = per_second.filter(({ second }) => second + 1 <= seconds);
  return lineChart(`${measured} a second`, seconds, [
    line('rate', 'rate', whole, ({ count }) => count),
  ]);
}

function memoryChart({ rss }: Pick<Report, 'rss'>): string {
  const points = rss.map(([second, bytes]) => [second, bytes / 1e6] as const);
  return lineChart('MB', 0, [{ name: 'RSS', style: 'rss', points }]);
}

function checkpointChart({ checkpoints }: CompactFigures): string {
  const points = (of: (one: CompactFigures['checkpoints'][number]) => number): Line['points'] => {
    return checkpoints.map((one) => [one.at_s, of(one) / 1e6]);
  };
  return lineChart('MB', 0, [
    { name: 'written', style: 'p99', points: points(({ bytes }) => bytes) },
    { name: 'changed entries', style: 'p50', points: points((one) => one.changed_entry_bytes) },
  ]);
}

function line(
  name: string,
  style: string,
  seconds: readonly Second[],
  value: (second: Second) => number,
): Line {
  // A second's figure stands in its middle.
  return { name, style, points: seconds.map((one) => [one.second + 0.5, value(one)]) };
}
