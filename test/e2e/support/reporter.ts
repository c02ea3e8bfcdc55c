import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { Reporter, Suite, TestCase } from '@playwright/test/reporter';

/**
 * Writes lines of JSON as scripts/test-results.mjs does: `{file, name, outcome}` for each test (passed, failed, skipped or
 * flaky), `{file, name, skipped}` with the reason for each that was skipped, and `{file, seconds}` for each file.
 */
export default class ResultsReporter implements Reporter {
  readonly #path: string;
  #root: Suite | undefined;

  constructor({ outputFile }: { outputFile: string }) {
    this.#path = outputFile;
  }

  onBegin(_: unknown, root: Suite): void {
    this.#root = root;
  }

  onEnd(): void {
    const tests = this.#root?.allTests() ?? [];
    const seconds = new Map<string, number>();
    const lines = tests.flatMap((test) => {
      const file = relative(process.cwd(), test.location.file).replaceAll('\\', '/');
      const duration = test.results.reduce((total, { duration }) => total + duration, 0) / 1000;
      seconds.set(file, (seconds.get(file) ?? 0) + duration);
      return describe(test).map((line) => ({ file, name: test.title, ...line }));
    });
    const files = [...seconds].map(([file, sum]) => ({ file, seconds: sum }));
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, [...lines, ...files].map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}

const outcomes = { expected: 'passed', unexpected: 'failed', flaky: 'flaky', skipped: 'skipped' };

const describe = (test: TestCase): object[] => {
  const outcome = outcomes[test.outcome()];
  if (outcome !== 'skipped') return [{ outcome }];
  const reason = test.annotations.find(({ type }) => type === 'skip')?.description ?? 'no reason';
  return [{ outcome }, { skipped: reason }];
};
