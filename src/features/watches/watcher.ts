import type { FastifyBaseLogger } from 'fastify';
import { createSharedReading } from '../../host/reading.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Concern } from '../../kit/feature.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import type { HistoryColumn, HostCheck } from '../../kit/offers.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { AlertCounts } from './alert-counts.ts';
import { CheckRunner, defaultTimeoutMs } from './check-runner.ts';
import { listMachineConcerns } from './concerns.ts';
import { type FiringWatchAlert, readFiringAlerts } from './firing-alerts.ts';
import type { KnownWatch } from './known-watch.ts';
import { RecentUsage } from './recent-usage.ts';
import { type RunnerParts, WatchRunner } from './runner.ts';
import type { WatchedThing } from './schema.ts';
import { countUnknown, holdsUnknown, type UnknownChecks } from './shared-cause.ts';
import { StaleAlerts } from './stale-alerts.ts';
import type { Finding, WatchReadings, WatchScope } from './watch-type.ts';

/** Seconds of history that a new watch begins with. */
const pastSeconds = 8 * 60 * 60;

/** Milliseconds for which watches share a reading. */
const sharedMs = 2000;

/** Milliseconds by which a tick may be early. */
const toleranceMs = 500;

interface WatcherParts extends Omit<WatchReadings, 'shared' | 'usage' | 'alertCounts' | 'countUnknown' | 'journal'> {
  journal: RecordLog;
  alerts: Pick<AlertSource, 'raise' | 'listRaised'>;
  incidents: Pick<IncidentSource, 'catchUp' | 'listUnsettled'>;
  /** Leases of this instance, by scope. While it holds a lease, it runs the checks of that scope. */
  leases: Record<WatchScope, Lease>;
  /** Places of this instance in fingerprints, by scope. */
  places: Record<WatchScope, string>;
  /** True if other instances store alerts in the same log. */
  isShared: boolean;
  /** Takes over an abandoned place to resolve its alerts. Resolves to false if the place is in use. */
  takeGone?: ((place: string) => Promise<boolean>) | undefined;
  /** Timeout of a check in milliseconds. Default: 10,000. */
  timeoutMs?: number;
  log: FastifyBaseLogger;
}

/** Watch that this instance checks. */
interface Active {
  runner: WatchRunner;
  nextAt: number;
  isRunning: boolean;
  /** Reason why a check was given up. Set until the check ends. */
  hang: Error | undefined;
  /** Monotonic time at which the last check ended. Undefined before the first check. */
  checkedAt: number | undefined;
  /** Time at which the last check began, in Unix milliseconds. Set only if the check found no fault. */
  okAt: number | undefined;
  /** True once the result of a check has been applied to the things. */
  isTaken: boolean;
}

const watchScopes: readonly WatchScope[] = ['machine', 'network', 'instance'];

/** Runs all watches when they are due. */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #usage = new RecentUsage();
  readonly #checks: CheckRunner;
  readonly #stale: StaleAlerts;
  #watches: readonly KnownWatch[] = [];
  readonly #active = new Map<string, Active>();
  /** Alerts that were already firing when this instance took over, by scope. */
  readonly #restored = new Map<WatchScope, Map<string, FiringWatchAlert>>();
  #isRestoring = false;
  #isClosed = false;
  #leave: (() => void) | undefined;
  /** Work for which `close` waits. */
  readonly #work = new Set<Promise<void>>();
  #lastFailure = '';
  readonly #listeners: ((name: string) => void)[] = [];
  readonly checked = { count: 0, failed: 0 };

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    const { host, journal, leases, places, isShared, takeGone } = parts;
    const readings: WatchReadings = {
      ...parts,
      alertCounts: new AlertCounts(journal),
      usage: this.#usage,
      countUnknown: () => countUnknown(this.#active.values()),
      shared: {
        fileSystems: createSharedReading(() => host.fileSystems(), sharedMs),
        processes: createSharedReading(() => host.processes(), sharedMs),
      },
    };
    this.#checks = new CheckRunner(readings, parts.timeoutMs);
    this.#stale = new StaleAlerts({
      leases,
      places,
      isShared,
      takeGone,
      readFiring: () => this.#readFiring(),
      createRunner: (watch, place, alerts) =>
        new WatchRunner(watch, { ...this.#runnerParts(watch, place), isGone: true }, alerts),
      onError: (error) => this.#report(error),
    });
    for (const scope of watchScopes) leases[scope].onChanged((isHeld) => !isHeld && this.#drop(scope));
  }

  start(): void {
    this.#leave = this.#parts.host.listen((sample) => {
      this.#usage.add(sample);
      this.tick();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#checks.close();
    this.#leave?.();
    await awaitWithin(defaultTimeoutMs, Promise.all(this.#work));
  }

  /** Replaces the watches. */
  set(watches: readonly KnownWatch[]): void {
    this.#watches = watches;
    for (const [name, { runner }] of this.#active) {
      const next = watches.find(({ settings }) => settings.name === name);
      if (next && isSame(next, runner.watch)) continue;
      const isKept = next !== undefined && isEnabled(next) && this.#placeOf(next) === this.#placeOf(runner.watch);
      if (isKept && runner.isBusy) {
        // The firing alerts are known once all alerts on their way to the log have been stored.
        void runner.settle().then(() => this.set(this.#watches));
        continue;
      }
      this.#active.delete(name);
      if (isKept) this.#activate(next, runner.listAlerts(), runner);
      else this.#stale.add(runner);
    }
    this.#activateNew();
  }

  /** Starts the checks that are due. Called about once a second. */
  tick(): void {
    if (this.#isClosed) return;
    this.#restore();
    const now = performance.now();
    for (const work of this.#stale.tick(now)) this.#hold(work);
    const counts = countUnknown(this.#active.values());
    for (const active of this.#active.values()) {
      const { hang, isRunning, runner } = active;
      if (runner.heldSince !== undefined && !this.#holdsUnknown(runner.watch, runner.heldSince, counts)) {
        this.#hold(runner.review());
      }
      if (now < active.nextAt || (isRunning && !hang)) continue;
      this.#hold(hang ? this.#take(active, hang) : this.#check(active));
    }
  }

  /** Finds the things of a watch. `isHere` is true if this instance runs the watch. */
  find(name: string): { things: WatchedThing[]; isHere: boolean; isChecked: boolean } {
    const active = this.#active.get(name);
    const isHere = active !== undefined;
    return { things: active?.runner.listWithRecent() ?? [], isHere, isChecked: active?.checkedAt !== undefined };
  }

  /** Lists the things of a watch after its first check by this instance. Undefined before that. */
  listChecked(name: string): WatchedThing[] | undefined {
    const active = this.#active.get(name);
    return active?.isTaken ? active.runner.list() : undefined;
  }

  /**
   * Returns the time at which the last check of a watch began, in Unix milliseconds. Undefined unless this instance
   * found no fault.
   */
  okSince(name: string): number | undefined {
    return this.#active.get(name)?.okAt;
  }

  /** Calls the listener with the name of a watch after each of its checks. */
  onChecked(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Lists the states of all things that this instance watches. */
  listStates(): WatchedThing['state'][] {
    return [...this.#active.values()].flatMap(({ runner }) => runner.list().map(({ state }) => state));
  }

  /** Returns the last results of the watches that take part in votes. */
  listChecks(): HostCheck[] {
    return [...this.#active.values()].flatMap(({ runner }) =>
      runner.watch.isVote
        ? runner.list().map(({ thing, state, text }): HostCheck => {
            const verdict = state === 'cannot check' ? 'unknown' : state === 'ok' ? 'good' : 'bad';
            return { watch: runner.watch.settings.name, thing, state: verdict, text };
          })
        : [],
    );
  }

  /** Runs the check of a watch once, without raising alerts. */
  async try(watch: KnownWatch): Promise<WatchedThing[]> {
    const { clock } = this.#parts;
    const raise = () => Promise.reject(new Error('a test raises no alerts'));
    const parts = { raise, place: '', clock, now: () => performance.now(), onUnstored: () => undefined };
    // A condition with an infinite wait never raises an alert.
    const runner = new WatchRunner({ ...watch, forMs: Number.POSITIVE_INFINITY }, parts, new Map());
    const once = { ...watch, settings: { ...watch.settings, retries: 0 } };
    await runner.take(await this.#checks.run(once, () => undefined));
    return runner.list();
  }

  findConcerns(): Concern[] {
    return listMachineConcerns([...this.#active.values()].map(({ runner }) => runner));
  }

  /** Reads the firing alerts of newly held scopes, at startup and whenever this instance takes over a scope. */
  #restore(): void {
    const missing = watchScopes.filter((scope) => this.#parts.leases[scope].isHeld() && !this.#restored.has(scope));
    if (this.#isRestoring || missing.length === 0) return;
    this.#isRestoring = true;
    void this.#readFiring()
      .then((alerts) => {
        for (const scope of missing) {
          if (!this.#parts.leases[scope].isHeld()) continue;
          this.#restored.set(scope, alerts);
          this.#stale.addUnwatched(scope, alerts, (name, place) => this.#isWatched(name, place));
        }
        this.#activateNew();
      })
      .catch((error: Error) => this.#report(error))
      .finally(() => {
        this.#isRestoring = false;
      });
  }

  #readFiring(): Promise<Map<string, FiringWatchAlert>> {
    return readFiringAlerts(this.#parts.alerts, this.#parts.incidents);
  }

  #isWatched(name: string, place: string): boolean {
    const watch = this.#watches.find(({ settings }) => settings.name === name);
    return watch !== undefined && isEnabled(watch) && this.#placeOf(watch) === place;
  }

  #activateNew(): void {
    for (const watch of this.#watches) {
      const alerts = this.#restored.get(watch.type.scope(watch.settings));
      const { name } = watch.settings;
      if (!alerts || !isEnabled(watch) || this.#active.has(name)) continue;
      this.#activate(watch, alerts);
      // From now on, the runner manages these alerts.
      for (const fingerprint of alerts.keys()) if (fingerprint.startsWith(`${name}/`)) alerts.delete(fingerprint);
    }
  }

  #activate(watch: KnownWatch, alerts: ReadonlyMap<string, FiringWatchAlert>, before?: WatchRunner): void {
    const runner = new WatchRunner(watch, this.#runnerParts(watch, this.#placeOf(watch)), alerts);
    if (before) runner.continueFrom(before);
    this.#active.set(watch.settings.name, {
      runner,
      nextAt: 0,
      isRunning: false,
      hang: undefined,
      checkedAt: undefined,
      okAt: undefined,
      isTaken: false,
    });
  }

  #placeOf({ type, settings }: KnownWatch): string {
    return this.#parts.places[type.scope(settings)];
  }

  #runnerParts(watch: KnownWatch, place: string): RunnerParts {
    const { alerts, clock } = this.#parts;
    return {
      raise: (alert) => {
        if (this.#isClosed) return Promise.reject(new Error('alerts cannot be stored'));
        return watch.isVote ? Promise.resolve({ id: '' }) : alerts.raise(alert);
      },
      place,
      clock,
      now: () => performance.now(),
      onUnstored: (error) => this.#report(error),
      holdsUnknown: (since) => this.#holdsUnknown(watch, since, countUnknown(this.#active.values())),
      readPast: (thing) => this.#readPast(watch, thing),
    };
  }

  #holdsUnknown(watch: KnownWatch, since: number, counts: readonly UnknownChecks[]): boolean {
    return holdsUnknown(watch, since, counts, this.#active.values());
  }

  /** Reads the figures of the last hours from the history. */
  async #readPast({ type, settings }: KnownWatch, thing: string): Promise<{ figures: number[]; stepMs: number }> {
    const { history, host } = this.#parts;
    if (!history || !type.listPast) return { figures: [], stepMs: 0 };
    const list = (column: HistoryColumn): number[] => history.list(column, pastSeconds / history.step);
    return { figures: await type.listPast(settings, thing, list, host), stepMs: history.step * 1000 };
  }

  /** Leaves the watches of a scope to another instance. */
  #drop(scope: WatchScope): void {
    this.#restored.delete(scope);
    for (const [name, { runner }] of this.#active) {
      const { type, settings } = runner.watch;
      if (type.scope(settings) === scope) this.#active.delete(name);
    }
  }

  #hold(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  async #check(active: Active): Promise<void> {
    planNext(active);
    active.isRunning = true;
    const beganAt = this.#parts.clock().getTime();
    const found = await this.#checks.run(active.runner.watch, () => {
      active.isRunning = false;
      active.hang = undefined;
    });
    this.checked.count += 1;
    if (found instanceof Error) this.checked.failed += 1;
    if (found instanceof Error && active.isRunning) active.hang = found;
    active.checkedAt = performance.now();
    await this.#take(active, found);
    active.okAt = active.runner.list().every(({ state }) => state === 'ok') ? beganAt : undefined;
  }

  async #take(active: Active, found: Finding[] | Error): Promise<void> {
    const { runner } = active;
    if (active.hang) planNext(active);
    // In the meantime, the watch may have changed, or another instance may have taken over.
    const { name } = runner.watch.settings;
    if (this.#active.get(name) === active && !this.#isClosed) await runner.take(found);
    active.isTaken = true;
    for (const listener of this.#listeners) listener(name);
  }

  /** Logs each failure once. An unavailable store logs a line of its own. */
  #report(error: Error): void {
    if (error instanceof StoreUnavailable || this.#lastFailure === error.message) return;
    this.#lastFailure = error.message;
    this.#parts.log.warn({ err: error }, 'watches: an alert was not stored; trying again');
  }
}

const planNext = (active: Active): void => {
  active.nextAt = performance.now() + active.runner.watch.everyMs - toleranceMs;
};

/** True if this server runs a watch. Watches with `hosts` are run by the hosts. */
const isEnabled = ({ settings }: KnownWatch): boolean => settings.enabled !== false && settings.hosts === undefined;

const isSame = (one: KnownWatch, other: KnownWatch): boolean =>
  one.isVote === other.isVote &&
  (one.settings === other.settings || JSON.stringify(one.settings) === JSON.stringify(other.settings));
