import { isDeepStrictEqual } from 'node:util';
import type { Incidents } from './incidents.ts';
import type { IncidentsEvent } from './projected-incidents.ts';
import type { Rules } from './rules.ts';

interface TimeEventParts {
  /** Settings of this instance. */
  rules: Rules;
  /** Returns the time in Unix milliseconds. */
  now(): number;
  state(): Incidents;
  /** True while this instance may append and knows all earlier events. */
  mayAppend(): boolean;
  append(event: IncidentsEvent): Promise<unknown>;
}

/** Appends an event when the passage of time affects incidents, or when the settings change. */
export class TimeEvents {
  readonly #parts: TimeEventParts;
  #rules: Rules;
  #appending: Promise<void> | undefined;

  constructor(parts: TimeEventParts) {
    this.#parts = parts;
    this.#rules = parts.rules;
  }

  changeRules(rules: Rules): void {
    this.#rules = rules;
    void this.appendDue();
  }

  /**
   * Appends all due events. Resolves once they have been appended, or once it is clear that they cannot be appended
   * now.
   */
  appendDue(): Promise<void> {
    this.#appending ??= this.#appendAll().finally(() => {
      this.#appending = undefined;
    });
    return this.#appending;
  }

  async #appendAll(): Promise<void> {
    try {
      for (let event = this.#findDue(); event; event = this.#findDue()) await this.#parts.append(event);
    } catch {
      // The log reports the reason.
    }
  }

  #findDue(): IncidentsEvent | undefined {
    if (!this.#parts.mayAppend()) return undefined;
    const at = this.#parts.now();
    const state = this.#parts.state();
    if (!isDeepStrictEqual(state.rules, this.#rules)) return { at, rules: this.#rules };
    return state.listDue(at).length > 0 || state.hasForgettable(at) ? { at } : undefined;
  }
}
