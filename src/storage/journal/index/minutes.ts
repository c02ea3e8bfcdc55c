import { type Block, minuteOf, slotOf } from './block.ts';
import type { Keys } from './keys.ts';

/** How many records of a file there are of each minute and key. */
export class Minutes {
  /** The counts of each minute, by slot. */
  readonly #minutes = new Map<number, number[]>();
  #first = Infinity;
  #last = -Infinity;

  add({ counts }: Block): void {
    for (const [countKey, count] of counts) this.#change(countKey, count);
  }

  remove({ counts }: Block): void {
    for (const [countKey, count] of counts) this.#change(countKey, -count);
  }

  /** Calls the function for each key of the minutes from `since` up to, and not including, `until`. */
  forEach(
    keys: Keys,
    since: number,
    until: number,
    call: (minute: number, key: string | undefined, count: number) => void,
  ): void {
    const callFor = (minute: number): void => {
      this.#minutes.get(minute)?.forEach((count, slot) => {
        if (count > 0) call(minute, keys.nameOf(slot), count);
      });
    };
    const first = Math.max(since, this.#first);
    const last = Math.min(until - 1, this.#last);
    if (last - first < this.#minutes.size) {
      for (let minute = first; minute <= last; minute += 1) callFor(minute);
      return;
    }
    for (const minute of this.#minutes.keys()) {
      if (minute >= first && minute <= last) callFor(minute);
    }
  }

  #change(countKey: number, by: number): void {
    const minute = minuteOf(countKey);
    const slot = slotOf(countKey);
    const counts = this.#minutes.get(minute) ?? [];
    while (counts.length <= slot) counts.push(0);
    counts[slot] = (counts[slot] ?? 0) + by;
    this.#minutes.set(minute, counts);
    this.#first = Math.min(this.#first, minute);
    this.#last = Math.max(this.#last, minute);
  }
}
