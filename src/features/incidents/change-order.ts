import { bisect } from '../../lib/bisect.ts';
import type { StoredIncident } from './incident.ts';

/** Incident and its position in the order. */
export interface Changed {
  incident: StoredIncident;
  /** Value of `change` in the incident. 0 once the incident has been forgotten. */
  change: number;
}

/**
 * Incidents in the order of their last change. Each change appends a position and invalidates the incident's previous
 * position.
 */
export class ChangeOrder {
  #places: { entry: Changed; change: number }[] = [];
  /** Number of invalid positions at the beginning. */
  #start = 0;
  /** Number of positions at which invalid positions are removed. */
  #maxPlaces = 1024;

  add(entry: Changed): void {
    this.#places.push({ entry, change: entry.change });
    if (this.#places.length < this.#maxPlaces) return;
    this.#places = this.#places.filter(({ entry: { change }, change: last }) => change === last);
    this.#start = 0;
    this.#maxPlaces = Math.max(1024, this.#places.length * 2);
  }

  /** Returns the incident that has been unchanged for longest. */
  first(): StoredIncident | undefined {
    for (let place = this.#places[this.#start]; place; place = this.#places[this.#start]) {
      if (place.entry.change === place.change) return place.entry.incident;
      this.#start += 1;
    }
    return undefined;
  }

  /** Yields incidents with changes before `before`, newest first. */
  *newestFirst(before: number): Generator<StoredIncident> {
    const end = bisect(this.#places, ({ change }) => change < before, this.#start);
    for (let at = end - 1; at >= this.#start; at -= 1) {
      const place = this.#places[at];
      if (place && place.entry.change === place.change) yield place.entry.incident;
    }
  }
}

/** Merges two incident lists, both newest first. */
export function* mergeNewestFirst(
  some: Iterator<StoredIncident>,
  others: Iterator<StoredIncident>,
): Generator<StoredIncident> {
  let [one, other] = [some.next(), others.next()];
  while (!one.done || !other.done) {
    if (other.done || (!one.done && one.value.change > other.value.change)) {
      if (!one.done) yield one.value;
      one = some.next();
    } else {
      yield other.value;
      other = others.next();
    }
  }
}
