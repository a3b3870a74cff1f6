/**
 * Counts of one vitest run: `node .ci/count.mjs REPORT STATUS` prints "passed failed skipped".
 * REPORT is the file of vitest's JSON reporter, STATUS the exit status of the run. A test file that
 * did not load, and a run that failed without a failed test, count as one failure each: neither may
 * disappear from the sum.
 */
import { readFileSync } from 'node:fs';

const [path, status] = process.argv.slice(2);

function count() {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const unloaded = report.testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + unloaded;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && status !== '0' ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

const { passed, failed, skipped } = count();
console.log(`${passed} ${failed} ${skipped}`);
