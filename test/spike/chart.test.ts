/**
 * Goal: what a chart shows stands within its frame, on axes whose numbers are round.
 * Method: lines and bars of many sizes; the numbers and places are read out of the SVG.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { barChart, lineChart } from '../../spike/chart.ts';

const WIDTH = 760;
const HEIGHT = 260;

function ticksOf(svg: string, anchor: 'end' | 'middle'): readonly number[] {
  const texts = [...svg.matchAll(new RegExp(`text-anchor="${anchor}">([^<]*)<`, 'g'))];
  return texts.map(([, text = '']) => Number(text)).filter((value) => !Number.isNaN(value));
}

describe('lineChart()', () => {
  it('has round ticks on both axes, up to what is highest or above', () => {
    const points = [
      [0, 3],
      [29.5, 4262.7],
    ] as const;
    const svg = lineChart('ms', 30, [{ name: 'a', style: 'a', points }]);
    expect(ticksOf(svg, 'end')).toEqual([0, 1000, 2000, 3000, 4000, 5000]);
    expect(ticksOf(svg, 'middle')).toEqual([0, 5, 10, 15, 20, 25, 30]);
  });

  it('keeps every point within its frame, and its ticks few and apart', () => {
    const value = fc.double({ min: 0, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { maxLength: 20 }), (points) => {
        const svg = lineChart('ms', 1, [{ name: 'a', style: 'a', points }]);
        expect(svg).not.toMatch(/NaN|Infinity/);
        const path = /points="([^"]*)"/.exec(svg)?.[1] ?? '';
        for (const pair of path === '' ? [] : path.split(' ')) {
          const [x = -1, y = -1] = pair.split(',').map(Number);
          expect(x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT, pair).toBe(true);
        }
        for (const ticks of [ticksOf(svg, 'end'), ticksOf(svg, 'middle')]) {
          expect(ticks.length).toBeGreaterThan(1);
          expect(ticks.length).toBeLessThan(11);
          expect(ticks.every((tick, i) => i === 0 || tick > (ticks[i - 1] ?? tick))).toBe(true);
        }
      }),
    );
  });
});

describe('barChart()', () => {
  it('has each bar as wide and as high as it is, from its own least latency', () => {
    const bars = [
      { fromMs: 40, toMs: 50, count: 10 },
      { fromMs: 50, toMs: 60, count: 5 },
    ];
    const svg = barChart('writes', bars);
    const rects = [...svg.matchAll(/y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g)];
    const [first = [], second = []] = rects.map((found) => found.slice(1).map(Number));
    expect(first[1]).toBe(second[1]);
    expect(first[2]).toBeCloseTo((second[2] ?? 0) * 2, 1);
    expect(ticksOf(svg, 'end')).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticksOf(svg, 'middle').at(0)).toBe(40);
    expect(ticksOf(svg, 'middle').at(-1)).toBe(60);
  });

  it('of nothing is an empty frame', () => {
    expect(barChart('writes', [])).not.toMatch(/rect|NaN|Infinity/);
  });
});
