import type { IncidentDestination } from './incident-destination.ts';

/**
 * Open destinations of incidents. They are replaced when settings change. The notifier plans for the current
 * destinations.
 */
export class IncidentDestinations {
  #list: readonly IncidentDestination[] | undefined;
  readonly #listeners: (() => void)[] = [];

  /** Undefined until destinations have been opened for the first time. */
  get list(): readonly IncidentDestination[] | undefined {
    return this.#list;
  }

  replace(list: readonly IncidentDestination[]): void {
    this.#list = list;
    for (const listener of this.#listeners) listener();
  }

  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
