import type { CompiledMatch } from './matchers.ts';

/** Microseconds that comparing one alert with all silences may take at worst: requests wait as long. */
const mostMicros = 15_000;

export const tooMuchWork =
  'Comparing an alert with all silences would take too long: match a source, host name or label exactly, use shorter or simpler regular expressions, or end other silences';

/**
 * The most microseconds that comparing one alert can take: all silences without a key, and of those with a key the dearest
 * value of each label, since an alert has one value of it.
 */
export class Work {
  #keyless = 0;
  #sum = 0;
  /** Costs by key, and the largest of them, for each label. */
  readonly #labels = new Map<string, { costs: Map<string, number>; most: number }>();

  /** False if comparing an alert would take too long with this one, and with others of this cost. */
  hasRoom(match: CompiledMatch, others = 0): boolean {
    return this.#with(match) + others <= mostMicros;
  }

  #with({ key, cost }: CompiledMatch): number {
    if (key === undefined) return this.#keyless + this.#sum + cost;
    const label = this.#labels.get(key.label);
    const most = label?.most ?? 0;
    return this.#keyless + this.#sum - most + Math.max(most, (label?.costs.get(key.text) ?? 0) + cost);
  }

  add({ key, cost }: CompiledMatch): void {
    if (key === undefined) {
      this.#keyless += cost;
      return;
    }
    const label = this.#labels.get(key.label) ?? { costs: new Map<string, number>(), most: 0 };
    this.#labels.set(key.label, label);
    const own = (label.costs.get(key.text) ?? 0) + cost;
    label.costs.set(key.text, own);
    if (own <= label.most) return;
    this.#sum += own - label.most;
    label.most = own;
  }
}
