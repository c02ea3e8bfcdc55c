import { bisect } from '../../lib/bisect.ts';
import type { StoredIncident } from './incident.ts';

/** An incident with its place in the order. */
export interface Changed {
  incident: StoredIncident;
  /** The incident's; 0 once it is forgotten. */
  change: number;
}

/** Incidents in the order in which they changed last. A change adds a place; the place before it no longer counts. */
export class ChangeOrder {
  #places: { entry: Changed; change: number }[] = [];
  /** Places before this no longer count. */
  #start = 0;
  /** When there are so many places, those that no longer count are removed. */
  #mostPlaces = 1024;

  add(entry: Changed): void {
    this.#places.push({ entry, change: entry.change });
    if (this.#places.length < this.#mostPlaces) return;
    this.#places = this.#places.filter(({ entry: { change }, change: last }) => change === last);
    this.#start = 0;
    this.#mostPlaces = Math.max(1024, this.#places.length * 2);
  }

  /** The one that changed first. */
  first(): StoredIncident | undefined {
    for (let place = this.#places[this.#start]; place; place = this.#places[this.#start]) {
      if (place.entry.change === place.change) return place.entry.incident;
      this.#start += 1;
    }
    return undefined;
  }

  /** Those with changes below this. */
  *newestFirst(before: number): Generator<StoredIncident> {
    const end = bisect(this.#places, ({ change }) => change < before, this.#start);
    for (let at = end - 1; at >= this.#start; at -= 1) {
      const place = this.#places[at];
      if (place && place.entry.change === place.change) yield place.entry.incident;
    }
  }
}
