import type { HostSample, Usage } from '../../host/readings.ts';

/** How many samples are kept: of a minute. */
const mostSamples = 60;

/** How the machine was used in the last minute, from the samples of each second. */
export class RecentUsage {
  #samples: Usage[] = [];
  #waiting: { count: number; resolve(): void }[] = [];

  add({ usage }: Pick<HostSample, 'usage'>): void {
    this.#samples.push(usage);
    if (this.#samples.length > 2 * mostSamples) this.#samples = this.#samples.slice(-mostSamples);
    const { length } = this.#samples;
    for (const { count, resolve } of this.#waiting) if (count <= length) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > length);
  }

  /** Resolves once so many seconds are known: what the first sample says of the time before it is unknown. */
  async waitFor(seconds: number): Promise<void> {
    const count = Math.min(mostSamples - 1, Math.ceil(seconds)) + 1;
    if (this.#samples.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** The mean of the last so many seconds, a minute at most; undefined if nothing is known. */
  mean(seconds: number, read: (usage: Usage) => number): number | undefined {
    const count = Math.min(mostSamples, Math.max(1, Math.round(seconds)));
    const known = this.#samples.slice(-count).map(read).filter(Number.isFinite);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  }
}
