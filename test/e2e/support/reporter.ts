import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, Suite, TestCase } from '@playwright/test/reporter';

/** Writes a JSON line for each test, for scripts/test.mjs: `{file, name, nesting, state, seconds, text}`. */
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
    const lines = (this.#root?.allTests() ?? []).map((test) => `${JSON.stringify(describe(test))}\n`);
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, lines.join(''));
  }
}

const states = { expected: 'passed', unexpected: 'failed', flaky: 'flaky', skipped: 'skipped' };

/** Returns the reason for skipping a test, or the errors of its attempts. */
const explain = ({ annotations, results }: TestCase): string => {
  const skipped = annotations.find(({ type }) => type === 'skip')?.description;
  const errors = results.flatMap((result) =>
    result.errors.map(({ message = '' }) => stripVTControlCharacters(message)),
  );
  return skipped ?? (errors.join('\n') || 'no reason');
};

const describe = (test: TestCase): object => ({
  file: relative(process.cwd(), test.location.file).replaceAll('\\', '/'),
  name: test.title,
  nesting: 0,
  state: states[test.outcome()],
  seconds: test.results.reduce((total, { duration }) => total + duration, 0) / 1000,
  text: explain(test),
});
