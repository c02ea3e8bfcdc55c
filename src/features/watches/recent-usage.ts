import type { HostSample, Usage } from '../../host/readings.ts';

/** Maximum number of samples kept, one per second. */
const maxSamples = 60;

/** Usage of the machine in the last minute. */
export class RecentUsage {
  #samples: Usage[] = [];
  #waiting: { count: number; resolve(): void }[] = [];

  add({ usage }: Pick<HostSample, 'usage'>): void {
    this.#samples.push(usage);
    if (this.#samples.length > 2 * maxSamples) this.#samples = this.#samples.slice(-maxSamples);
    const { length } = this.#samples;
    for (const { count, resolve } of this.#waiting) if (count <= length) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > length);
  }

  /** Resolves once usage is known for a number of seconds. The first sample does not count, because it has no rates. */
  async waitFor(seconds: number): Promise<void> {
    const count = Math.min(maxSamples - 1, Math.ceil(seconds)) + 1;
    if (this.#samples.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Returns the mean over the last `seconds`, at most a minute. Undefined without samples. */
  mean(seconds: number, read: (usage: Usage) => number): number | undefined {
    const count = Math.min(maxSamples, Math.max(1, Math.round(seconds)));
    const known = this.#samples.slice(-count).map(read).filter(Number.isFinite);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  }
}
