interface Due {
  id: string;
  at: number;
}

/** Due times by id, earliest first, in a binary heap. A new time for an id replaces its previous time. */
export class DueTimes {
  readonly #heap: Due[] = [];
  readonly #at = new Map<string, number>();

  /** Sets the time of an id. Infinity removes it. */
  set(id: string, at: number): void {
    if (this.#at.get(id) === at) return;
    if (at === Number.POSITIVE_INFINITY) {
      this.#at.delete(id);
      return;
    }
    this.#at.set(id, at);
    this.#push({ id, at });
    // Outdated entries are removed before they greatly outnumber the current entries.
    if (this.#heap.length > 2 * this.#at.size + 1024) this.#rebuild();
  }

  /** Sets the time of an id, unless the current time is earlier. */
  advance(id: string, at: number): void {
    if (at < (this.#at.get(id) ?? Number.POSITIVE_INFINITY)) this.set(id, at);
  }

  /** Number of ids with a time. */
  get size(): number {
    return this.#at.size;
  }

  /** Returns the time of an id. Undefined if it has none. */
  timeOf(id: string): number | undefined {
    return this.#at.get(id);
  }

  /** Earliest time. Undefined without ids. */
  get first(): number | undefined {
    return this.#peek()?.at;
  }

  /** Removes and returns the ids with times of at most `until`, earliest first. */
  take(until: number): string[] {
    const ids: string[] = [];
    for (let first = this.#peek(); first && first.at <= until; first = this.#peek()) {
      this.#pop();
      this.#at.delete(first.id);
      ids.push(first.id);
    }
    return ids;
  }

  /** Returns the first `count` ids with their times, earliest first. */
  list(count: number): Due[] {
    return Array.from(this.#at, ([id, at]) => ({ id, at }))
      .sort((one, other) => one.at - other.at)
      .slice(0, count);
  }

  clear(): void {
    this.#heap.length = 0;
    this.#at.clear();
  }

  /** Removes outdated entries and returns the first current entry. */
  #peek(): Due | undefined {
    for (let first = this.#heap[0]; first; first = this.#heap[0]) {
      if (this.#at.get(first.id) === first.at) return first;
      this.#pop();
    }
    return undefined;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let place = heap.push(due) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Due;
      if (above.at <= due.at) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as Due).at < (heap[child] as Due).at) child += 1;
      const below = heap[child] as Due;
      if (last.at <= below.at) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
  }

  #rebuild(): void {
    this.#heap.length = 0;
    for (const [id, at] of this.#at) this.#push({ id, at });
  }
}
