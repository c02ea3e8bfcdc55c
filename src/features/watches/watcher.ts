import type { FastifyBaseLogger } from 'fastify';
import { createSharedReading } from '../../host/reading.ts';
import type { HostReadings } from '../../host/readings.ts';
import { ownSender } from '../../kit/alert-record.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Concern } from '../../kit/feature.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import type { HistoryColumn } from '../../kit/offers.ts';
import { rankOf } from '../../kit/severity.ts';
import { Slots } from '../../kit/slots.ts';
import type { Targets } from '../../kit/targets.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import { createTurns } from '../../lib/slice.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { AlertCounts } from './alert-counts.ts';
import { type KnownWatch, toKnownWatch } from './definitions.ts';
import { isInstancePlace } from './gone-places.ts';
import { RecentUsage } from './recent-usage.ts';
import { type RunnerParts, type ToldAlert, WatchRunner } from './runner.ts';
import type { WatchedThing, WatchSettings } from './schema.ts';
import type { Finding, WatchReadings, WatchScope } from './type.ts';

/** How many checks over the network run at a time. */
const mostAtOnce = 20;

/** How long a check may take; longer where its limit is, and a little more until it is given up. */
const usualLimitMs = 10_000;
const longestMs = 30_000;
const graceMs = 1000;

/** Seconds of the history that a new watch begins with. */
const pastSeconds = 8 * 60 * 60;

/** Several watches that are due at the same time share a reading. */
const sharedMs = 2000;

/** A tick may come a little early. */
const toleranceMs = 500;

interface WatcherParts extends Omit<WatchReadings, 'shared' | 'usage' | 'alertCounts' | 'journal'> {
  journal: RecordLog | undefined;
  host: HostReadings;
  targets: Targets;
  alerts: Pick<AlertSource, 'raise' | 'listRaised'> | undefined;
  incidents: Pick<IncidentSource, 'catchUp' | 'listUnsettled'> | undefined;
  /** What of the network, and of this machine, this instance watches. */
  leases: Record<WatchScope, Lease>;
  where: Record<WatchScope, string>;
  /** Whether other instances store their alerts in the same log. */
  isShared: boolean;
  /** Takes over a place where nothing watches any more, to end its alerts; undefined where there is one. */
  takeGone?: ((place: string) => Promise<boolean>) | undefined;
  /** Milliseconds that a check may take; 10,000 by default. */
  limitMs?: number;
  log: FastifyBaseLogger;
}

/** A watch that is checked. */
interface Active {
  runner: WatchRunner;
  nextAt: number;
  isRunning: boolean;
  /** What is said of a check that was given up, until it ends after all. */
  hang: Error | undefined;
  isChecked: boolean;
}

/**
 * Milliseconds from the start, and from each gain of the lease, to the first look for places that are gone, so that others start
 * meanwhile, or renew their leases after the database was away; and to the next look.
 */
const firstLookMs = 20_000;
const lookMs = 10_000;

const watchScopes: readonly WatchScope[] = ['machine', 'network', 'instance'];

/** Checks all watches when they are due. */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #readings: WatchReadings;
  readonly #usage = new RecentUsage();
  readonly #slots = new Slots(mostAtOnce);
  /** A thousand watches may be due at the same time. */
  readonly #waitForTurn = createTurns();
  #watches: readonly KnownWatch[] = [];
  readonly #active = new Map<string, Active>();
  /** Runners of what is not watched any more, until the log has no alert of theirs that fires. */
  #ended: { runner: WatchRunner; reason: string }[] = [];
  /** Scopes whose alerts of before are known. */
  readonly #restored = new Map<WatchScope, Map<string, ToldAlert>>();
  #isRestoring = false;
  #isEnding = false;
  #nextLookAt = performance.now() + firstLookMs;
  /** Until then no place counts as gone. */
  #patientUntil = 0;
  /** They end the checks that run. */
  readonly #running = new Set<AbortController>();
  #isClosed = false;
  #leave: (() => void) | undefined;
  readonly #checks = new Set<Promise<void>>();
  #lastFailure = '';
  readonly checked = { count: 0, failed: 0 };

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    const { host, journal } = parts;
    this.#readings = {
      ...parts,
      alertCounts: journal && new AlertCounts(journal),
      usage: this.#usage,
      shared: {
        fileSystems: createSharedReading(() => host.fileSystems(), sharedMs),
        processes: createSharedReading(() => host.processes(), sharedMs),
      },
    };
    for (const scope of watchScopes) parts.leases[scope].onChanged((isHeld) => !isHeld && this.#drop(scope));
    parts.leases.network.onChanged((isHeld) => {
      if (isHeld) this.#patientUntil = performance.now() + firstLookMs;
    });
  }

  start(): void {
    this.#leave = this.#parts.host.listen((sample) => {
      this.#usage.add(sample);
      this.tick();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const one of this.#running) one.abort();
    this.#leave?.();
    await awaitWithin(usualLimitMs, Promise.all(this.#checks));
  }

  /** Changes what is watched. */
  set(watches: readonly KnownWatch[]): void {
    this.#watches = watches;
    for (const [name, { runner }] of this.#active) {
      const next = watches.find(({ settings }) => settings.name === name);
      if (next && isSame(next, runner.watch)) continue;
      const isKept = next !== undefined && isChecked(next) && this.#whereOf(next) === this.#whereOf(runner.watch);
      if (isKept && runner.isBusy) {
        // What fires of it is known once that is stored.
        void runner.settle().then(() => this.set(this.#watches));
        continue;
      }
      this.#active.delete(name);
      if (isKept) this.#activate(next, runner.listTold(), runner);
      else this.#end(runner);
    }
    this.#activateNew();
  }

  /** Checks what is due; called about once a second. */
  tick(): void {
    if (this.#isClosed) return;
    this.#restore();
    if (this.#ended.length > 0) this.#endAll();
    const now = performance.now();
    if (now >= this.#nextLookAt) {
      this.#nextLookAt = Number.POSITIVE_INFINITY;
      this.#hold(this.#endGone());
    }
    for (const active of this.#active.values()) {
      const { hang, isRunning } = active;
      if (now < active.nextAt || (isRunning && !hang)) continue;
      const check = hang ? this.#take(active, hang) : this.#check(active);
      this.#hold(check);
    }
  }

  /** What is known of a watch: its things, and whether it is checked here. */
  find(name: string): { things: WatchedThing[]; isHere: boolean; isChecked: boolean } {
    const active = this.#active.get(name);
    const isHere = active !== undefined;
    return { things: active?.runner.listWithRecent() ?? [], isHere, isChecked: active?.isChecked === true };
  }

  /** The states of all things that are watched here. */
  listStates(): WatchedThing['state'][] {
    return [...this.#active.values()].flatMap(({ runner }) => runner.list().map(({ state }) => state));
  }

  /** What a watch finds now. */
  async try(watch: KnownWatch): Promise<WatchedThing[]> {
    const { clock } = this.#parts;
    const raise = () => Promise.reject(new Error('this is a trial'));
    const parts = { raise, where: '', clock, now: () => performance.now(), onUnstored: () => undefined };
    // With a condition that never holds for long enough, no alert is raised.
    const runner = new WatchRunner({ ...watch, forMs: Number.POSITIVE_INFINITY }, parts, new Map());
    const found = await this.#run(watch, () => undefined);
    await runner.take(found);
    return runner.list();
  }

  /** Disks, memory and the like that need attention. */
  findConcerns(): Concern[] {
    const concerns = [...this.#active.values()].flatMap(({ runner }) =>
      isOfMachine(runner.watch.settings)
        ? runner
            .list()
            .flatMap(({ state, level, text }): Concern[] =>
              state === 'firing' && level ? [{ area: 'host', severity: level, text: toSentence(text) }] : [],
            )
        : [],
    );
    return concerns.sort((a, b) => rankOf(a.severity) - rankOf(b.severity));
  }

  /** Learns which alerts fire of what this instance watches, once after each start, and when it takes over from another one. */
  #restore(): void {
    const missing = watchScopes.filter((scope) => this.#parts.leases[scope].isHeld() && !this.#restored.has(scope));
    if (this.#isRestoring || missing.length === 0) return;
    this.#isRestoring = true;
    void this.#readTold()
      .then((told) => {
        for (const scope of missing) {
          if (!this.#parts.leases[scope].isHeld()) continue;
          this.#restored.set(scope, told);
          this.#endForeign(scope, told);
        }
        this.#activateNew();
      })
      .catch((error: Error) => this.#report(error))
      .finally(() => {
        this.#isRestoring = false;
      });
  }

  /** Incidents know of alerts that fire for so long that the end of the log has them no more. */
  async #readTold(): Promise<Map<string, ToldAlert>> {
    const { alerts, incidents } = this.#parts;
    const told = new Map<string, ToldAlert>();
    await incidents?.catchUp();
    for (const { sender, source, state, about, lastAlert, level } of (await incidents?.listUnsettled()) ?? []) {
      const isOwn = sender === ownSender && source.startsWith('watch/') && state !== 'resolved';
      if (isOwn) told.set(about, { id: lastAlert, level });
    }
    for (const [fingerprint, { id, level, isResolved }] of (await alerts?.listRaised('watch')) ?? []) {
      if (!isResolved) told.set(fingerprint, { id, level });
    }
    return told;
  }

  /** Ends the alerts of watches that there are no more. */
  #endForeign(scope: WatchScope, told: ReadonlyMap<string, ToldAlert>): void {
    const { where, isShared } = this.#parts;
    const all = Object.values(where);
    /** Alone, this machine is the only one: what was watched by another name is this one, too. */
    const isOwn = (of: string): boolean =>
      of === where[scope] || (scope === 'machine' && !isShared && !all.includes(of));
    const gone = new Map<string, { name: string; of: string }>();
    for (const fingerprint of told.keys()) {
      const [name = '', of = ''] = fingerprint.split('/', 2);
      const watch = this.#watches.find(({ settings }) => settings.name === name);
      const isWatched = watch && isChecked(watch) && this.#whereOf(watch) === of;
      if (isOwn(of) && !isWatched) gone.set(`${name}/${of}`, { name, of });
    }
    for (const { name, of } of gone.values()) this.#endAt(name, of, told);
  }

  #endAt(name: string, of: string, told: ReadonlyMap<string, ToldAlert>, reason?: string): void {
    // Any type will do: its things are known from the alerts.
    const watch = toKnownWatch({ name, type: 'journal' }, 'config');
    this.#end(new WatchRunner(watch, { ...this.#runnerParts(watch, of), isGone: true }, told), reason);
  }

  /** Ends the alerts of machines and instances that are gone; one of all instances does. Never rejects. */
  async #endGone(): Promise<void> {
    const { takeGone, leases, where } = this.#parts;
    try {
      const mayTake = (): boolean => leases.network.isHeld() && performance.now() >= this.#patientUntil;
      if (!takeGone || !mayTake()) return;
      const own = new Set(Object.values(where));
      const found = new Map<string, Set<string>>();
      for (const fingerprint of (await this.#readTold()).keys()) {
        const [name = '', of = ''] = fingerprint.split('/', 2);
        if (!own.has(of)) found.set(of, (found.get(of) ?? new Set()).add(name));
      }
      for (const [of, names] of found) {
        // The database may have been away for so long that others could not renew their leases.
        if (!mayTake()) return;
        if (!(await takeGone(of))) continue;
        // Now nothing else can be stored there.
        const told = await this.#readTold();
        const reason = isInstancePlace(of) ? 'its server is gone' : `no server has watched ${of} for a day`;
        for (const name of names) this.#endAt(name, of, told, reason);
      }
    } catch (error) {
      this.#report(error as Error);
    } finally {
      this.#nextLookAt = performance.now() + lookMs;
    }
  }

  #activateNew(): void {
    for (const watch of this.#watches) {
      const told = this.#restored.get(watch.type.scope(watch.settings));
      const { name } = watch.settings;
      if (!told || !isChecked(watch) || this.#active.has(name)) continue;
      this.#activate(watch, told);
      // From now on its runner knows.
      for (const about of told.keys()) if (about.startsWith(`${name}/`)) told.delete(about);
    }
  }

  #activate(watch: KnownWatch, told: ReadonlyMap<string, ToldAlert>, before?: WatchRunner): void {
    const runner = new WatchRunner(watch, this.#runnerParts(watch, this.#whereOf(watch)), told);
    if (before) runner.takeOver(before);
    this.#active.set(watch.settings.name, { runner, nextAt: 0, isRunning: false, hang: undefined, isChecked: false });
  }

  #end(runner: WatchRunner, reason = `${runner.watch.settings.name} is not watched any more`): void {
    this.#ended.push({ runner, reason });
  }

  #whereOf({ type, settings }: KnownWatch): string {
    return this.#parts.where[type.scope(settings)];
  }

  #runnerParts(watch: KnownWatch, where: string): RunnerParts {
    const { alerts, clock } = this.#parts;
    const raise: AlertSource['raise'] = (alert) => {
      if (this.#isClosed || !alerts) return Promise.reject(new Error('alerts cannot be stored'));
      return alerts.raise(alert);
    };
    const onUnstored = (error: Error): void => this.#report(error);
    const readPast = (thing: string) => this.#readPast(watch, thing);
    return { raise, where, clock, now: () => performance.now(), onUnstored, readPast };
  }

  /** Of the last hours. */
  async #readPast({ type, settings }: KnownWatch, thing: string): Promise<{ figures: number[]; stepMs: number }> {
    const { history, host } = this.#parts;
    if (!history || !type.listPast) return { figures: [], stepMs: 0 };
    const list = (column: HistoryColumn): number[] => history.list(column, pastSeconds / history.step);
    return { figures: await type.listPast(settings, thing, list, host), stepMs: history.step * 1000 };
  }

  /** Another instance watches this from now on. */
  #drop(scope: WatchScope): void {
    this.#restored.delete(scope);
    for (const [name, { runner }] of this.#active) {
      const { type, settings } = runner.watch;
      if (type.scope(settings) === scope) this.#active.delete(name);
    }
  }

  #endAll(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const ending = this.#ended;
    this.#ended = [];
    const work = (async () => {
      for (const each of ending) if (!(await each.runner.end(each.reason))) this.#ended.push(each);
      this.#isEnding = false;
    })();
    this.#hold(work);
  }

  /** Lets `close` wait for it. */
  #hold(work: Promise<void>): void {
    this.#checks.add(work);
    void work.finally(() => this.#checks.delete(work));
  }

  async #check(active: Active): Promise<void> {
    const { watch } = active.runner;
    plan(active);
    active.isRunning = true;
    const end = (): void => {
      active.isRunning = false;
      active.hang = undefined;
    };
    const found = await this.#run(watch, end);
    this.checked.count += 1;
    if (found instanceof Error) this.checked.failed += 1;
    if (found instanceof Error && active.isRunning) active.hang = found;
    await this.#take(active, found);
    active.isChecked = true;
  }

  async #take(active: Active, found: Finding[] | Error): Promise<void> {
    const { runner } = active;
    if (active.hang) plan(active);
    // It may have been changed meanwhile, or another instance has taken over.
    if (this.#active.get(runner.watch.settings.name) === active && !this.#isClosed) await runner.take(found);
  }

  /** What a check finds, or why it could not be made; `onEnd` is called when it has really ended. Never rejects. */
  async #run(watch: KnownWatch, onEnd: () => void): Promise<Finding[] | Error> {
    const { settings, type } = watch;
    const { limitMs = usualLimitMs } = this.#parts;
    const ms = Math.min(longestMs, Math.max(limitMs, settings.limit ?? 0, settings.critical ?? 0));
    const check = async (): Promise<Finding[] | Error> => {
      if (this.#isClosed) return new Error('signalbox is stopping');
      const running = new AbortController();
      const timer = setTimeout(() => running.abort(), ms);
      this.#running.add(running);
      try {
        return await type.check(settings, this.#readings, running.signal);
      } catch (error) {
        return error as Error;
      } finally {
        clearTimeout(timer);
        this.#running.delete(running);
      }
    };
    const limited = async (): Promise<Finding[] | Error> => {
      await this.#waitForTurn();
      const checking = check();
      void checking.then(onEnd);
      const found = await awaitWithin(ms + graceMs, checking);
      return found ?? new Error(`there was no answer within ${ms / 1000} s`);
    };
    return type.scope(settings) === 'network' ? this.#slots.run(limited) : limited();
  }

  /** A database says itself that it cannot be used. */
  #report(error: Error): void {
    if (error instanceof StoreUnavailable || this.#lastFailure === error.message) return;
    this.#lastFailure = error.message;
    this.#parts.log.warn({ err: error }, 'watches: an alert was not stored; it is tried again');
  }
}

/** When it is due next. */
const plan = (active: Active): void => {
  active.nextAt = performance.now() + active.runner.watch.everyMs - toleranceMs;
};

const isChecked = ({ settings }: KnownWatch): boolean => settings.enabled !== false;

const isSame = (one: KnownWatch, other: KnownWatch): boolean =>
  one.settings === other.settings || JSON.stringify(one.settings) === JSON.stringify(other.settings);

const ofMachine: readonly WatchSettings['type'][] = [
  ...(['disk', 'memory', 'swap', 'cpu', 'load', 'network', 'pressure', 'temperature'] as const),
];

const isOfMachine = ({ type }: WatchSettings): boolean => ofMachine.includes(type);

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
