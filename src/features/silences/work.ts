import type { CompiledMatch } from './matchers.ts';

/** Maximum microseconds for comparing one alert with all silences. Other requests wait in the meantime. */
const maxMicros = 15_000;

export const tooMuchWorkText =
  'Matching alerts against all silences would take too long: match a source, host name or label exactly, use shorter or simpler regular expressions, or end other silences';

/**
 * Worst-case microseconds for comparing one alert: the cost of all silences without a key, plus the cost of each
 * label's most expensive value. An alert has only one value per label.
 */
export class Work {
  #keyless = 0;
  #sum = 0;
  /** For each label, the costs by key and the highest of these costs. */
  readonly #labels = new Map<string, { costs: Map<string, number>; most: number }>();

  /**
   * False if comparing an alert with this silence as well could take too long. `others` is the cost of the other
   * silences.
   */
  hasRoom(match: CompiledMatch, others = 0): boolean {
    return this.#with(match) + others <= maxMicros;
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
