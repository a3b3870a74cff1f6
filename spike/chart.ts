/** Charts as SVG: lines over time and bars, on axes with round numbers. Pure. */
import type { Bar } from './measure.ts';

const WIDTH = 760;
const HEIGHT = 260;
const LEFT = 70;
const RIGHT = 20;
const TOP = 12;
const BOTTOM = 32;
const Y_TICKS = 5;
const X_TICKS = 8;

type Point = readonly [x: number, y: number];

/** A line, and what the legend says of it. `style` is a class of the page. */
export interface Line {
  readonly name: string;
  readonly style: string;
  readonly points: readonly Point[];
}

interface Axis {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
}

/** Lines over one axis of seconds, from 0 to at least `seconds`. @param label of the y axis */
export function lineChart(label: string, seconds: number, lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points);
  const x = axisOf('seconds', 0, Math.max(seconds, ...points.map(([at]) => at)), X_TICKS);
  const y = roundedUp(axisOf(label, 0, Math.max(0, ...points.map(([, value]) => value)), Y_TICKS));
  const drawn = lines.map(({ style, points: own }) => {
    const path = own.map(([at, value]) => `${xOf(x, at)},${yOf(y, value)}`).join(' ');
    return `<polyline class="${style}" points="${path}"/>`;
  });
  return legend(lines) + framed(x, y, drawn.join(''));
}

/** Bars that stand side by side. @param label of the y axis */
export function barChart(label: string, bars: readonly Bar[]): string {
  const from = bars[0]?.fromMs ?? 0;
  const x = axisOf('ms', from, bars.at(-1)?.toMs ?? from, X_TICKS);
  const y = roundedUp(axisOf(label, 0, Math.max(0, ...bars.map(({ count }) => count)), Y_TICKS));
  const drawn = bars.map(({ fromMs, toMs, count }) => {
    const [left, top] = [xOf(x, fromMs), yOf(y, count)];
    const width = rounded(Math.max(xOf(x, toMs) - left - 1, 1));
    const title = `<title>${fromMs.toFixed(1)} to ${toMs.toFixed(1)} ms: ${count}</title>`;
    const height = rounded(HEIGHT - BOTTOM - top);
    return `<rect x="${left}" y="${top}" width="${width}" height="${height}">${title}</rect>`;
  });
  return framed(x, y, drawn.join(''));
}

/** Text as it stands between tags. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Ticks at multiples of 1, 2 or 5 with zeros, within from and to. */
function axisOf(label: string, from: number, to: number, most: number): Axis {
  const span = to > from ? to - from : 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= most) ?? 1;
  const first = Math.ceil(from / step);
  const count = Math.floor((from + span) / step + 1e-9) - first + 1;
  const ticks = Array.from({ length: count }, (_, index) => trimmed((first + index) * step));
  return { label, from, to: from + span, ticks };
}

/** The same axis up to one tick more, so that what is highest stays within. */
function roundedUp(axis: Axis): Axis {
  const { ticks, from, to } = axis;
  const last = ticks.at(-1) ?? from;
  if (last >= to) return axis;
  const step = (ticks[1] ?? to) - (ticks[0] ?? from);
  const next = trimmed(last + step);
  return { ...axis, to: next, ticks: [...ticks, next] };
}

function legend(lines: readonly Line[]): string {
  // One line is named by its axis.
  if (lines.length < 2) return '';
  const items = lines.map(({ name, style }) => {
    return `<span class="${style}">${escaped(name)}</span>`;
  });
  return `<p class="legend">${items.join(' ')}</p>`;
}

function framed(x: Axis, y: Axis, content: string): string {
  const [right, bottom] = [WIDTH - RIGHT, HEIGHT - BOTTOM];
  const across = y.ticks.map((value) => {
    const at = yOf(y, value);
    return (
      `<line class="grid" x1="${LEFT}" x2="${right}" y1="${at}" y2="${at}"/>` +
      `<text x="${LEFT - 8}" y="${at}" dy="0.35em" text-anchor="end">${value}</text>`
    );
  });
  const down = x.ticks.map((value) => {
    const at = xOf(x, value);
    return (
      `<line class="tick" x1="${at}" x2="${at}" y1="${bottom}" y2="${bottom + 5}"/>` +
      `<text x="${at}" y="${bottom + 7}" dy="0.8em" text-anchor="middle">${value}</text>`
    );
  });
  const name = escaped(`${y.label} by ${x.label}`);
  return (
    `<figure><figcaption>${escaped(y.label)}</figcaption>` +
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${name}">` +
    `${[...across, ...down].join('')}${content}</svg>` +
    `<p class="unit">${escaped(x.label)}</p></figure>`
  );
}

function xOf({ from, to }: Axis, value: number): number {
  return rounded(LEFT + ((value - from) / (to - from)) * (WIDTH - LEFT - RIGHT));
}

function yOf({ from, to }: Axis, value: number): number {
  const bottom = HEIGHT - BOTTOM;
  return rounded(bottom - ((value - from) / (to - from)) * (bottom - TOP));
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Without the digits that binary fractions leave. */
function trimmed(value: number): number {
  return Number(value.toPrecision(12));
}
