import { type Block, minuteOf, slotOf } from './block.ts';
import type { Keys } from './keys.ts';

/** How many records of a file there are of each minute and key. */
export class Minutes {
  readonly #minutes = new Map<number, Map<number, number>>();

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
      for (const [slot, count] of this.#minutes.get(minute) ?? []) {
        if (count > 0) call(minute, keys.nameOf(slot), count);
      }
    };
    if (until - since < this.#minutes.size) {
      for (let minute = since; minute < until; minute += 1) callFor(minute);
      return;
    }
    for (const minute of this.#minutes.keys()) {
      if (minute >= since && minute < until) callFor(minute);
    }
  }

  #change(countKey: number, by: number): void {
    const minute = minuteOf(countKey);
    const slot = slotOf(countKey);
    const counts = this.#minutes.get(minute) ?? new Map<number, number>();
    this.#minutes.set(minute, counts.set(slot, (counts.get(slot) ?? 0) + by));
  }
}
