import type { HostSample, Usage } from '../../host/readings.ts';

/** How many samples are kept: of a minute. */
const mostSamples = 60;

/** How the machine was used in the last minute, from the samples of each second. */
export class RecentUsage {
  #samples: Usage[] = [];

  add({ usage }: Pick<HostSample, 'usage'>): void {
    this.#samples.push(usage);
    if (this.#samples.length > 2 * mostSamples) this.#samples = this.#samples.slice(-mostSamples);
  }

  /** The mean of the last so many seconds, a minute at most; undefined if nothing is known. */
  mean(seconds: number, read: (usage: Usage) => number): number | undefined {
    const count = Math.min(mostSamples, Math.max(1, Math.round(seconds)));
    const known = this.#samples.slice(-count).map(read).filter(Number.isFinite);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  }
}
