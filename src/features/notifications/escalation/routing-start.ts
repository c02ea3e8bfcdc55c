import { ownSender } from '../../../kit/alert-record.ts';
import type { RuntimeSetting, SettingStore } from '../../../kit/setting-store.ts';

/**
 * Kind of runtime setting that records when the config file first had a routing. It has no routes and no limits.
 */
const startKind = 'escalation-start';
const startName = 'routing';

/** Milliseconds between two attempts to store the time. */
const retryMs = 1000;

/** Milliseconds by which a stored time may be ahead of the clock. */
const clockSlackMs = 60_000;

interface StartParts {
  settings: SettingStore;
  clock: () => Date;
}

/**
 * Time at which the config file's routing took effect. Only incidents that open later follow the routing. The time is
 * stored, so that a restart neither pages people for old incidents nor forgets incidents that opened just before it.
 */
export class RoutingStart {
  readonly #parts: StartParts;
  #isConfigured = false;
  /** Time recorded by this process, in Unix milliseconds. A stored time takes precedence. */
  #own: number | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #storing: Promise<unknown> = Promise.resolve();

  constructor(parts: StartParts) {
    this.#parts = parts;
    // Another instance, whose config file has no routing yet, may have deleted the time.
    parts.settings.onChanged(startKind, () => this.#store());
  }

  /** Records whether the config file has a routing. */
  configure(isConfigured: boolean): void {
    this.#isConfigured = isConfigured;
    this.#own = isConfigured ? (this.#own ?? this.#parts.clock().getTime()) : undefined;
    this.#triedAt = Number.NEGATIVE_INFINITY;
    this.#store();
  }

  /** Time in Unix milliseconds. Undefined without a routing, and until the settings have been read. */
  get at(): number | undefined {
    if (!this.#isConfigured || !this.#parts.settings.isRead()) return undefined;
    this.#store();
    return this.#find() ?? this.#own;
  }

  /** Resolves once the latest attempt to store the time has ended. */
  async whenStored(): Promise<void> {
    await this.#storing;
  }

  /** Returns the stored time, unless it was stored while the clock was ahead. */
  #find(): number | undefined {
    const since = this.#setting?.value?.since;
    return typeof since === 'number' && since <= this.#latest ? since : undefined;
  }

  get #setting(): RuntimeSetting<{ since?: unknown }> | undefined {
    return this.#parts.settings.find<{ since?: unknown }>(startKind, startName);
  }

  get #latest(): number {
    return this.#parts.clock().getTime() + clockSlackMs;
  }

  /**
   * Stores the time if it is missing. Deletes it if there is no routing. A full disk must not hold back escalations.
   */
  #store(): void {
    const { settings, clock } = this.#parts;
    const stored = this.#find();
    const version = this.#setting?.version ?? 0;
    const isDone = this.#isConfigured ? stored !== undefined : version === 0;
    if (this.#isConfigured) this.#own = stored ?? this.#own;
    if (this.#own !== undefined && this.#own > this.#latest) this.#own = clock().getTime();
    if (isDone || !settings.isRead() || performance.now() - this.#triedAt < retryMs) return;
    this.#triedAt = performance.now();
    const stores = this.#isConfigured
      ? settings.put(startKind, startName, { since: this.#own }, ownSender, [version])
      : settings.delete(startKind, startName, ownSender);
    this.#storing = stores.catch(() => undefined);
  }
}
