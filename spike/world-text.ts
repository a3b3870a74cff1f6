/** The report of a large world as lines for a person, and the figures of it that say most. */
import { assertNever } from '../bucketstore/base/assert.ts';
import {
  c,
  figure,
  headLines,
  type KeyFigure,
  kinds,
  loopLines,
  memoryLine,
  ms,
  rate,
  readBackWords,
  voidLines,
} from './text.ts';
import type {
  ColdstartFigures,
  CompactFigures,
  SeedFigures,
  WorldFigures,
  WorldReport,
} from './world-report.ts';

/** The lines that a run prints when it is done. */
export function worldLines(report: WorldReport): readonly string[] {
  const { interrupted, seconds } = report;
  const words = `INTERRUPTED: the figures are of the ${seconds} s until then`;
  const ended = interrupted ? [words] : [];
  return [...headLines(report), ...figureLines(report), ...ended, ...voidLines(report)];
}

function figureLines(report: WorldFigures): readonly string[] {
  switch (report.scenario) {
    case 'seed':
      return seedLines(report);
    case 'coldstart':
      return coldstartLines(report);
    case 'compact':
      return compactLines(report);
    default:
      return assertNever(report);
  }
}

function seedLines(of: SeedFigures): readonly string[] {
  return [
    `documents    ${of.documents} in ${of.seconds.toFixed(1)} s, ` +
      `${rate(of.documents_per_s ?? 0)} a second, ` +
      `${figure(of.cpu_us_per_document, 0)} µs of CPU each`,
    `requests     ${kinds(of.requests)}; ${megabytes(of.bytes)} sent`,
    `checkpoint   ${of.checkpoint_objects} objects, ${megabytes(of.checkpoint_bytes)}, of which ` +
      `packs ${megabytes(of.pack_bytes)}; ` +
      `${figure(of.entry_bytes_per_document, 1)} bytes of JSON an entry`,
    `opened       ${ms(of.full_ms)} until all of it was in memory`,
    `world        ${of.world}`,
  ];
}

function coldstartLines(of: ColdstartFigures): readonly string[] {
  return [
    `documents    ${of.documents}, ${of.behind} slots behind the checkpoint; ` +
      `${of.runs} new stores, medians`,
    `first get    ${ms(of.first_get_ms)} = ${c(of.first_get_c)}, at most ` +
      `${ms(of.first_get_max_ms)}; ${of.requests_in_sequence} requests in sequence`,
    `everything   ${ms(of.full_ms)}; then a list ${ms(of.ls_ms)}, a look-up ${ms(of.lookup_ms)}`,
    `replay       ${ms(of.replay_ms)} from the first to the last read of a slot behind it`,
    `requests     ${kinds(of.requests)} of all stores; ${megabytes(of.bytes_read)} read`,
    `memory       ${megabytes(of.resident_bytes)} a store, ` +
      `${of.resident_bytes_per_document.toFixed(1)} bytes a document`,
  ];
}

function compactLines(of: CompactFigures): readonly string[] {
  const { objects_max_with_base: withBase, objects_max_without_base: without } = of;
  return [
    `changes      ${of.changes} of ${of.documents} documents in ${of.seconds.toFixed(1)} s, ` +
      `${rate(of.changes_per_s ?? 0)} a second; p50 ${ms(of.p50_ms)} = ${c(of.p50_c)}, ` +
      `p99 ${ms(of.p99_ms)} = ${c(of.p99_c)}`,
    `checkpoints  ${of.checkpoints.length}, with a base ${of.bases}; ${of.slots} slots`,
    `bytes        ${megabytes(of.checkpoint_bytes)} written, packs ${megabytes(of.pack_bytes)}; ` +
      `${megabytes(of.changed_entry_bytes)} of entries changed`,
    `ratio        ${figure(of.bytes_ratio, 2)}, without packs ` +
      `${figure(of.bytes_ratio_without_packs, 2)}; of one without a base at most ` +
      `${figure(of.bytes_ratio_max_without_base, 2)}`,
    `objects      ${of.checkpoint_objects}, ` +
      `${figure(of.objects_per_checkpoint, 1)} a checkpoint; at most ` +
      `${withBase ?? 'n/a'} with a base, ${without ?? 'n/a'} without`,
    `errors       ${kinds(of.errors) || 'none'}`,
    memoryLine(of.rss),
    ...loopLines(of.event_loop_delay_p999_ms),
    `read back    ${readBackWords(of.lost_acknowledged)}`,
  ];
}

/** The figures that say most. */
export function worldFigures(report: WorldReport): readonly KeyFigure[] {
  const first = { name: 'c', value: ms(report.c_ms), note: 'a create, idle' };
  return [first, { name: 'documents', value: String(report.documents) }, ...ownFigures(report)];
}

function ownFigures(report: WorldFigures): readonly KeyFigure[] {
  switch (report.scenario) {
    case 'seed':
      return [
        { name: 'seconds', value: report.seconds.toFixed(1) },
        { name: 'documents a second', value: rate(report.documents_per_s ?? 0) },
        { name: 'sent', value: megabytes(report.bytes) },
      ];
    case 'coldstart':
      return [
        { name: 'first get', value: ms(report.first_get_ms), note: c(report.first_get_c) },
        { name: 'requests in sequence', value: String(report.requests_in_sequence) },
        { name: 'everything', value: ms(report.full_ms) },
        { name: 'bytes a document', value: report.resident_bytes_per_document.toFixed(1) },
      ];
    case 'compact':
      return [
        { name: 'bytes for a byte changed', value: figure(report.bytes_ratio, 2) },
        { name: 'without packs', value: figure(report.bytes_ratio_without_packs, 2) },
        { name: 'objects a checkpoint', value: figure(report.objects_per_checkpoint, 1) },
        { name: 'acknowledged lost', value: String(report.lost_acknowledged ?? 'not known') },
      ];
    default:
      return assertNever(report);
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
