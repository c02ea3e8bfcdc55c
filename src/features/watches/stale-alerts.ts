import type { Lease } from '../../storage/postgres/lease.ts';
import { readWatchFingerprint } from './fingerprints.ts';
import type { FiringWatchAlert } from './firing-alerts.ts';
import { isInstancePlace } from './gone-places.ts';
import { type KnownWatch, toKnownWatch } from './known-watch.ts';
import type { WatchRunner } from './runner.ts';
import type { WatchScope } from './watch-type.ts';

/**
 * Milliseconds between startup, or acquiring the lease, and the first search for abandoned places. The delay gives
 * other instances time to start, or to renew their leases after a database outage.
 */
const firstSearchMs = 20_000;

/** Milliseconds between two searches. */
const searchMs = 10_000;

interface StaleAlertsParts {
  leases: Record<WatchScope, Lease>;
  places: Record<WatchScope, string>;
  /** True if other instances store alerts in the same log. */
  isShared: boolean;
  /** Takes over an abandoned place to resolve its alerts. Resolves to false if the place is in use. */
  takeGone: ((place: string) => Promise<boolean>) | undefined;
  readFiring(): Promise<Map<string, FiringWatchAlert>>;
  createRunner(watch: KnownWatch, place: string, alerts: ReadonlyMap<string, FiringWatchAlert>): WatchRunner;
  onError(error: Error): void;
}

/** Resolves alerts of deleted watches, and of machines and instances that no longer exist. */
export class StaleAlerts {
  readonly #parts: StaleAlertsParts;
  /** Runners whose firing alerts still have to be resolved. */
  #pending: { runner: WatchRunner; reason: string }[] = [];
  #isResolving = false;
  #nextSearchAt = performance.now() + firstSearchMs;
  /** Time before which no place counts as abandoned. */
  #patientUntil = 0;

  constructor(parts: StaleAlertsParts) {
    this.#parts = parts;
    parts.leases.network.onChanged((isHeld) => {
      if (isHeld) this.#patientUntil = performance.now() + firstSearchMs;
    });
  }

  /** Adds the alerts of a runner. */
  add(runner: WatchRunner, reason = `${runner.watch.settings.name} is no longer watched`): void {
    this.#pending.push({ runner, reason });
  }

  /** Adds the alerts of this instance that do not belong to any watch. */
  addUnwatched(
    scope: WatchScope,
    alerts: ReadonlyMap<string, FiringWatchAlert>,
    isWatched: (name: string, place: string) => boolean,
  ): void {
    const { places, isShared } = this.#parts;
    const all = Object.values(places);
    // If no other instance stores alerts, a machine with another name is this machine under its former name.
    const isOwn = (place: string): boolean =>
      place === places[scope] || (scope === 'machine' && !isShared && !all.includes(place));
    const unwatched = new Map<string, { name: string; place: string }>();
    for (const fingerprint of alerts.keys()) {
      const { name, place } = readWatchFingerprint(fingerprint);
      if (isOwn(place) && !isWatched(name, place)) unwatched.set(`${name}/${place}`, { name, place });
    }
    for (const { name, place } of unwatched.values()) this.#addNamed(name, place, alerts);
  }

  /** Starts the work that is due. Returns promises that never reject. */
  tick(now: number): Promise<void>[] {
    const work: Promise<void>[] = [];
    if (this.#pending.length > 0 && !this.#isResolving) work.push(this.#resolve());
    if (now >= this.#nextSearchAt) {
      this.#nextSearchAt = Number.POSITIVE_INFINITY;
      work.push(this.#findGone());
    }
    return work;
  }

  #addNamed(name: string, place: string, alerts: ReadonlyMap<string, FiringWatchAlert>, reason?: string): void {
    // The type is unknown and does not matter, because the alerts name the things.
    const watch = toKnownWatch({ name, type: 'journal' }, 'config');
    this.add(this.#parts.createRunner(watch, place, alerts), reason);
  }

  async #resolve(): Promise<void> {
    this.#isResolving = true;
    const pending = this.#pending;
    this.#pending = [];
    for (const each of pending) if (!(await each.runner.end(each.reason))) this.#pending.push(each);
    this.#isResolving = false;
  }

  /** Adds the alerts of abandoned places. Only one instance does so. */
  async #findGone(): Promise<void> {
    const { takeGone, leases, places, readFiring } = this.#parts;
    const mayTake = (): boolean => leases.network.isHeld() && performance.now() >= this.#patientUntil;
    try {
      if (!takeGone || !mayTake()) return;
      const own = new Set(Object.values(places));
      const found = new Map<string, Set<string>>();
      for (const fingerprint of (await readFiring()).keys()) {
        const { name, place } = readWatchFingerprint(fingerprint);
        if (!own.has(place)) found.set(place, (found.get(place) ?? new Set()).add(name));
      }
      for (const [place, names] of found) {
        // If the database was unavailable in the meantime, other instances could not renew their leases.
        if (!mayTake()) return;
        if (!(await takeGone(place))) continue;
        // Read the alerts again, because from now on the place cannot store any.
        const alerts = await readFiring();
        const reason = isInstancePlace(place)
          ? 'the server that ran the check is no longer running'
          : `no server has watched ${place} for a day`;
        for (const name of names) this.#addNamed(name, place, alerts, reason);
      }
    } catch (error) {
      this.#parts.onError(error as Error);
    } finally {
      this.#nextSearchAt = performance.now() + searchMs;
    }
  }
}
