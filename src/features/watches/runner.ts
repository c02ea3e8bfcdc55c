import type { AlertSource } from '../../kit/alert-source.ts';
import type { Severity } from '../../kit/severity.ts';
import { roundFigure } from '../../lib/rounding.ts';
import { createSerial } from '../../lib/scheduling.ts';
import { readIdTime } from '../../storage/journal/line.ts';
import { beginCondition, type ConditionState, observe, observeFault, stepCondition } from './condition.ts';
import { allThings, type ThingMark, toThingName, toWatchFingerprint, unknownMark } from './fingerprints.ts';
import type { FiringWatchAlert } from './firing-alerts.ts';
import type { KnownWatch } from './known-watch.ts';
import { RecentFigures } from './recent-figures.ts';
import type { RecentReadings, WatchedThing } from './schema.ts';
import { describeFiring, describeResolved } from './watch-alert.ts';
import type { Finding } from './watch-type.ts';

export interface RunnerParts {
  raise: AlertSource['raise'];
  /** Watched machine or instance, as it appears in fingerprints. Empty for the network. */
  place: string;
  /** True if only the name of the watch is known. Labels then stay unchanged. */
  isGone?: boolean;
  clock: () => Date;
  /** Milliseconds on a monotonic clock. */
  now: () => number;
  /**
   * True if alerts about checks that have not worked since the given monotonic time are held back. Such checks may have
   * a common cause.
   */
  holdsUnknown?(since: number): boolean;
  /** Reads figures of a thing from before it was watched, oldest first, and the milliseconds between two figures. */
  readPast?(thing: string): Promise<{ figures: readonly number[]; stepMs: number }>;
  /** Called with the error if an alert could not be stored. The alert is stored again after the next check. */
  onUnstored(error: Error): void;
}

interface Thing {
  name: string;
  condition: ConditionState;
  shown: WatchedThing | undefined;
  /** Firing alert about the thing, and firing alert about its failing checks. */
  alert: FiringWatchAlert | undefined;
  unknownAlert: FiringWatchAlert | undefined;
  words: string;
  limitWords: string;
  /** True if the last check was a yes-or-no check. Such a check has no limit. */
  isFault: boolean;
  /** Recent figures. Undefined before the first finding. */
  recent: RecentFigures | undefined;
}

/** State of one watch. Folds the findings of checks, and stores alerts for the things that fire. */
export class WatchRunner {
  readonly watch: KnownWatch;
  readonly #parts: RunnerParts;
  readonly #things = new Map<string, Thing>();
  readonly #recentBefore = new Map<string, RecentFigures>();
  /** Stores alerts in the order of the findings. */
  readonly #serially = createSerial();
  #working = 0;
  #heldSince: number | undefined;

  /** Creates the state. `alerts` are the firing alerts by fingerprint, possibly including those of other watches. */
  constructor(watch: KnownWatch, parts: RunnerParts, alerts: ReadonlyMap<string, FiringWatchAlert>) {
    this.watch = watch;
    this.#parts = parts;
    const prefix = toWatchFingerprint(watch.settings.name, parts.place, '');
    for (const [fingerprint, alert] of alerts) {
      if (!fingerprint.startsWith(prefix)) continue;
      const rest = fingerprint.slice(prefix.length);
      const isUnknown = rest.startsWith(unknownMark);
      const thing = this.#find(isUnknown ? rest.slice(1) : rest);
      if (isUnknown) thing.unknownAlert = alert;
      else thing.alert = alert;
      thing.isFault = thing.alert !== undefined && thing.alert.level === watch.type.defaultLevel;
      thing.condition = beginCondition(this.#toFiring(thing.alert), thing.unknownAlert !== undefined);
    }
  }

  /** Continues the recent figures of another runner, if both runners measure the same figure. */
  continueFrom(before: WatchRunner): void {
    const { type, everyMs, settings } = before.watch;
    const { watch } = this;
    if (type !== watch.type || everyMs !== watch.everyMs || settings.metric !== watch.settings.metric) return;
    for (const { name, recent } of before.#things.values()) if (recent) this.#recentBefore.set(name, recent);
  }

  /** True while an alert may be on its way to the log. */
  get isBusy(): boolean {
    return this.#working > 0;
  }

  /** Monotonic time since which a check has not worked, if the alert about it is held back. Otherwise undefined. */
  get heldSince(): number | undefined {
    return this.#working === 0 ? this.#heldSince : undefined;
  }

  /** True if the check has not worked for as long as `for`. */
  get isUnknown(): boolean {
    const shown = [...this.#things.values()].filter((thing) => thing.shown);
    return shown.length > 0 && shown.every(({ condition }) => condition.isUnknownReported);
  }

  list(): WatchedThing[] {
    return [...this.#things.values()].flatMap(({ shown }) => shown ?? []);
  }

  listWithRecent(): WatchedThing[] {
    return [...this.#things.values()].flatMap(({ shown, recent }) =>
      shown ? { ...shown, recent: recent ? this.#toReadings(recent) : null } : [],
    );
  }

  /** Lists the firing alerts by fingerprint. */
  listAlerts(): Map<string, FiringWatchAlert> {
    const { settings } = this.watch;
    const all = new Map<string, FiringWatchAlert>();
    for (const { name, alert, unknownAlert } of this.#things.values()) {
      const add = (mark: ThingMark, firing: FiringWatchAlert | undefined): void => {
        if (firing) all.set(toWatchFingerprint(settings.name, this.#parts.place, mark + name), firing);
      };
      add('', alert);
      add(unknownMark, unknownAlert);
    }
    return all;
  }

  /** Folds the findings of a check, or the Error of a failed check. Never rejects. */
  take(found: readonly Finding[] | Error): Promise<void> {
    return this.#work(() => this.#take(found));
  }

  /** Stores alerts that have been held back, unless they must wait longer. */
  review(): Promise<void> {
    return this.#work(() => this.#updateAlerts());
  }

  /** Resolves all alerts with a reason. Resolves to true once the log contains all resolutions. */
  end(reason: string): Promise<boolean> {
    return this.#work(async () => {
      for (const thing of this.#things.values()) Object.assign(thing, { condition: beginCondition(), words: reason });
      await this.#updateAlerts();
      return this.listAlerts().size === 0;
    });
  }

  /** Resolves when no alert is on its way to the log. */
  settle(): Promise<void> {
    return this.#serially(async () => undefined);
  }

  #work<T>(step: () => Promise<T>): Promise<T> {
    this.#working += 1;
    return this.#serially(step).finally(() => {
      this.#working -= 1;
    });
  }

  async #take(found: readonly Finding[] | Error): Promise<void> {
    const at = this.#parts.now();
    const isFailed = found instanceof Error;
    const findings: readonly Finding[] = isFailed
      ? [{ thing: allThings, isUnknown: true, words: found.message }]
      : found;
    const present = new Set<string>();
    for (const finding of findings) {
      const name = toThingName(finding.thing);
      present.add(name);
      const thing = this.#find(name);
      thing.recent ??= this.#recentBefore.get(name) ?? (await this.#createRecent(finding, at));
      this.#observe(thing, finding, at);
    }
    for (const thing of this.#things.values()) {
      if (present.has(thing.name) || (isFailed && thing.name !== allThings)) continue;
      thing.condition = beginCondition();
      thing.words = this.#describeGone(thing.name);
      thing.shown = undefined;
    }
    await this.#updateAlerts();
  }

  #find(name: string): Thing {
    const known = this.#things.get(name);
    if (known) return known;
    const thing: Thing = {
      name,
      condition: beginCondition(),
      shown: undefined,
      alert: undefined,
      unknownAlert: undefined,
      words: '',
      limitWords: '',
      isFault: false,
      recent: undefined,
    };
    this.#things.set(name, thing);
    return thing;
  }

  #observe(thing: Thing, finding: Finding, at: number): void {
    const limits = finding.limits ?? this.watch.limits;
    const observation =
      'isUnknown' in finding
        ? undefined
        : 'isBad' in finding
          ? observeFault(finding.isBad, finding.isCritical)
          : limits && observe(finding.figure, limits);
    const isBad = observation && observation.limit === 'bad';
    thing.recent?.add(at, { isBad, ...('figure' in finding && { figure: finding.figure }) });
    const { state } = stepCondition(thing.condition, observation, at, this.watch.forMs);
    thing.condition = state;
    thing.words = finding.words;
    if (!('isUnknown' in finding)) thing.isFault = 'isBad' in finding;
    const reached = state.firing === 'critical' ? limits?.critical : limits?.limit;
    thing.limitWords =
      'toText' in finding && state.firing && reached !== undefined ? `, limit ${finding.toText(reached)}` : '';
    this.#show(thing, finding, observation === undefined);
  }

  /** Creates recent figures that begin with the figures in the history. */
  async #createRecent(finding: Finding, at: number): Promise<RecentFigures> {
    const limits = finding.limits ?? this.watch.limits;
    const recent = new RecentFigures(this.watch.everyMs, limits?.isLowBad === true);
    if (!('toText' in finding)) return recent;
    const past = await this.#parts.readPast?.(finding.thing).catch(() => undefined);
    const { figures, stepMs } = past ?? { figures: [], stepMs: 0 };
    for (const [index, figure] of figures.entries()) {
      if (Number.isNaN(figure)) continue;
      const isBad = limits && observe(figure, limits).limit === 'bad';
      recent.add(at - (figures.length - index) * stepMs, { figure, isBad });
    }
    return recent;
  }

  #toReadings(recent: RecentFigures): RecentReadings {
    const { start, stepMs, figures, bad } = recent.list();
    const { clock, now } = this.#parts;
    return {
      start: new Date(clock().getTime() - now() + start).toISOString(),
      step: stepMs / 1000,
      figures: figures.map((figure) => figure && roundFigure(figure)),
      bad,
    };
  }

  #show(thing: Thing, finding: Finding, isUnknown: boolean): void {
    const { firing, limitSince } = thing.condition;
    const rest = isUnknown ? 'cannot check' : limitSince === undefined ? 'ok' : 'pending';
    const state = firing && !isUnknown ? 'firing' : rest;
    const now = this.#parts.clock().toISOString();
    const { shown, alert, unknownAlert } = thing;
    // After a restart or a change to the watch, the state is as old as its alert.
    const current = state === 'firing' ? alert : isUnknown ? unknownAlert : undefined;
    const raisedAt = shown || !current ? undefined : readIdTime(current.id);
    const begun = raisedAt === undefined ? now : new Date(raisedAt).toISOString();
    thing.shown = {
      thing: thing.name,
      state,
      level: firing ? this.#levelOf(firing, thing) : null,
      figure: 'figure' in finding && finding.figure !== undefined ? roundFigure(finding.figure) : null,
      text: finding.words,
      at: now,
      since: shown?.state === state ? shown.since : begun,
      seen: finding.seen ?? null,
      recent: null,
    };
  }

  #levelOf(firing: 'limit' | 'critical', { isFault }: Pick<Thing, 'isFault'>): Severity {
    if (firing === 'critical') return 'CRITICAL';
    const { settings, type } = this.watch;
    return settings.level ?? ((isFault && type.defaultLevel) || 'WARNING');
  }

  #toFiring(alert: FiringWatchAlert | undefined): ConditionState['firing'] {
    if (!alert) return undefined;
    const isCritical = this.watch.limits?.critical !== undefined && alert.level === 'CRITICAL';
    return isCritical && this.watch.settings.level !== 'CRITICAL' ? 'critical' : 'limit';
  }

  #describeGone(name: string): string {
    if (name === allThings) return `watch ${this.watch.settings.name} can run its check again`;
    return this.watch.type.describeGone?.(name) ?? `${name} no longer exists`;
  }

  /** Stores alerts and resolutions that are missing from the log. */
  async #updateAlerts(): Promise<void> {
    this.#heldSince = undefined;
    for (const thing of [...this.#things.values()]) {
      const { firing, unknownSince = 0 } = thing.condition;
      let { isUnknownReported } = thing.condition;
      if (isUnknownReported && !thing.unknownAlert && this.#parts.holdsUnknown?.(unknownSince) === true) {
        isUnknownReported = false;
        this.#heldSince = Math.max(this.#heldSince ?? 0, unknownSince);
      }
      const { name: watch } = this.watch.settings;
      try {
        const level = firing && this.#levelOf(firing, thing);
        thing.alert = await this.#updateAlert(thing, '', thing.alert, level, thing.words + thing.limitWords);
        const unknownLevel = isUnknownReported ? this.#levelOf('limit', { isFault: false }) : undefined;
        const words = isUnknownReported ? `Watch ${watch} cannot run its check: ${thing.words}` : thing.words;
        thing.unknownAlert = await this.#updateAlert(thing, unknownMark, thing.unknownAlert, unknownLevel, words);
      } catch (error) {
        this.#parts.onUnstored(error as Error);
        return;
      }
      if (!thing.shown && !thing.alert && !thing.unknownAlert) this.#things.delete(thing.name);
    }
  }

  /**
   * Stores an alert at this level, or the resolution of the firing alert. Resolves to the alert that fires afterwards.
   */
  async #updateAlert(
    { name: thing, shown }: Thing,
    mark: ThingMark,
    alert: FiringWatchAlert | undefined,
    level: Severity | undefined,
    words: string,
  ): Promise<FiringWatchAlert | undefined> {
    if (alert?.level === level) return alert;
    const { raise, place, isGone = false, clock } = this.#parts;
    const subject = { watch: this.watch, place, thing, mark, isGone };
    if (level !== undefined) {
      const { id } = await raise(
        describeFiring(subject, { words, seen: shown?.seen }, level, shown?.since ?? clock().toISOString()),
      );
      return { id, level };
    }
    if (alert) await raise(describeResolved(subject, words, alert));
    return undefined;
  }
}
