import { bisect } from '../../lib/bisect.ts';
import type { StoredIncident } from './incident.ts';

/** Incident with its place in the order. */
export interface Changed {
  incident: StoredIncident;
  /** `change` of the incident; 0 once it is forgotten. */
  change: number;
}

/** Incidents in the order of their last changes. Each change adds a place, and the place before it becomes void. */
export class ChangeOrder {
  #places: { entry: Changed; change: number }[] = [];
  /** Number of places at the beginning that are void. */
  #start = 0;
  /** Number of places at which void places are removed. */
  #maxPlaces = 1024;

  add(entry: Changed): void {
    this.#places.push({ entry, change: entry.change });
    if (this.#places.length < this.#maxPlaces) return;
    this.#places = this.#places.filter(({ entry: { change }, change: last }) => change === last);
    this.#start = 0;
    this.#maxPlaces = Math.max(1024, this.#places.length * 2);
  }

  /** Returns the incident whose last change is the oldest. */
  first(): StoredIncident | undefined {
    for (let place = this.#places[this.#start]; place; place = this.#places[this.#start]) {
      if (place.entry.change === place.change) return place.entry.incident;
      this.#start += 1;
    }
    return undefined;
  }

  /** Lists incidents with changes before `before`. */
  *newestFirst(before: number): Generator<StoredIncident> {
    const end = bisect(this.#places, ({ change }) => change < before, this.#start);
    for (let at = end - 1; at >= this.#start; at -= 1) {
      const place = this.#places[at];
      if (place && place.entry.change === place.change) yield place.entry.incident;
    }
  }
}

/** Merges two lists of incidents, both newest first. */
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
