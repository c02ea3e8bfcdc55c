import type { Reporter, Suite, TestCase } from '@playwright/test/reporter';

const toReason = ({ title, annotations }: TestCase): string =>
  `${title}: ${annotations.find(({ type }) => type === 'skip')?.description ?? 'no reason'}\n`;

/** Makes a run with skipped tests fail in CI, because everything that tests need is installed there. */
export default class SkipReporter implements Reporter {
  #root: Suite | undefined;

  onBegin(_: unknown, root: Suite): void {
    this.#root = root;
  }

  async onEnd(): Promise<{ status: 'failed' } | undefined> {
    const skipped = this.#root?.allTests().filter((test) => test.outcome() === 'skipped') ?? [];
    if (process.env['CI'] !== 'true' || skipped.length === 0) return undefined;
    process.stdout.write(`\nSkipped in CI:\n${skipped.map(toReason).join('')}`);
    return { status: 'failed' };
  }
}
