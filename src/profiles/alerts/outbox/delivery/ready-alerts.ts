import type { WaitingAlert } from './waiting-alert.ts';

/** Alerts that may be sent now: the newest critical one first, then the oldest one, and those under suspicion last. */
export class ReadyAlerts {
  /** Each in the order of the log. */
  readonly #critical: WaitingAlert[] = [];
  readonly #others: WaitingAlert[] = [];
  readonly #suspects: WaitingAlert[] = [];

  get isEmpty(): boolean {
    return this.#critical.length === 0 && this.#others.length === 0 && this.#suspects.length === 0;
  }

  add(alert: WaitingAlert): void {
    const list = this.#listOf(alert);
    list.splice(findPlace(list, alert.seq), 0, alert);
  }

  remove(alert: WaitingAlert): void {
    const list = this.#listOf(alert);
    const place = findPlace(list, alert.seq);
    if (list[place] === alert) list.splice(place, 1);
  }

  /** Removes the next one and returns it. */
  take(): WaitingAlert | undefined {
    return this.#critical.pop() ?? this.#others.shift() ?? this.#takeSuspect();
  }

  clearSuspicion(): void {
    for (const alert of this.#suspects.splice(0)) {
      alert.suspicion = 0;
      this.add(alert);
    }
  }

  /** The one that has failed least; of several the newest critical one, or the oldest one. */
  #takeSuspect(): WaitingAlert | undefined {
    const fewest = this.#suspects.reduce(
      (least, { suspicion }) => Math.min(least, suspicion),
      Number.POSITIVE_INFINITY,
    );
    const least = this.#suspects.filter(({ suspicion }) => suspicion === fewest);
    const next = least.findLast(({ isCritical }) => isCritical) ?? least[0];
    if (next) this.remove(next);
    return next;
  }

  #listOf({ suspicion, isCritical }: WaitingAlert): WaitingAlert[] {
    if (suspicion > 0) return this.#suspects;
    return isCritical ? this.#critical : this.#others;
  }
}

/** The index of the first alert that has the seq or a later one. */
const findPlace = (list: readonly WaitingAlert[], seq: number): number => {
  const last = list.at(-1);
  // Nearly always, alerts come in the order of the log.
  if (last === undefined || last.seq < seq) return list.length;
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.seq ?? seq) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
};
