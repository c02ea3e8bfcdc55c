import { hash } from 'node:crypto';
import { markResolved } from '../../kit/alert-record.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Severity } from '../../kit/severity.ts';
import { createSerial } from '../../lib/scheduling.ts';
import { cutText } from '../../lib/well-formed.ts';
import { readIdTime } from '../../storage/journal/line.ts';
import { beginCondition, type ConditionState, observe, observeFault, stepCondition } from './condition.ts';
import type { KnownWatch } from './definitions.ts';
import { RecentFigures } from './recent-figures.ts';
import type { RecentReadings, WatchedThing } from './schema.ts';
import type { Finding } from './type.ts';

/** An alert of a watch that fires, as the log of alerts has it. */
export interface ToldAlert {
  id: string;
  level: string;
}

export interface RunnerParts {
  raise: AlertSource['raise'];
  /** Of the machine or instance that is watched; empty for what is the same for all. */
  where: string;
  /** Only the name of the watch is known, so labels stay as they are. */
  isGone?: boolean;
  clock: () => Date;
  /** Milliseconds of a clock that nobody sets. */
  now: () => number;
  /** The figures of a thing before it was watched, oldest first, and the milliseconds from one to the next. */
  readPast?(thing: string): Promise<{ figures: readonly number[]; stepMs: number }>;
  /** Gets the error where an alert was not stored; it is tried again after the next check. */
  onUnstored(error: Error): void;
}

interface Thing {
  name: string;
  condition: ConditionState;
  shown: WatchedThing | undefined;
  told: ToldAlert | undefined;
  toldUnknown: ToldAlert | undefined;
  words: string;
  limitWords: string;
  /** True if the last check asked a question of yes or no, instead of comparing a figure with a limit. */
  isFault: boolean;
  /** Undefined before its first finding. */
  recent: RecentFigures | undefined;
}

/** The thing that stands for all of a watch, where nothing can be checked. */
const allThings = '*';

const longestThing = 180;

/** Fingerprints of a watch's alerts: `NAME/WHERE/THING`, and `NAME/WHERE/?THING` where it cannot be checked. */
const toThingFingerprint = (name: string, where: string, thing: string): string => `${name}/${where}/${thing}`;
const unknownMark = '?';

const toThingName = (thing: string): string =>
  thing.length <= longestThing
    ? thing
    : `${cutText(thing, longestThing)}-${hash('sha256', thing, 'base64url').slice(0, 12)}`;

/** What is known of one watch: folds what its checks find, and sees to it that the log has an alert of what fires. */
export class WatchRunner {
  readonly watch: KnownWatch;
  readonly #parts: RunnerParts;
  readonly #things = new Map<string, Thing>();
  readonly #recentBefore = new Map<string, RecentFigures>();
  /** What was found is told in its order, so that what is known to be in the log is right. */
  readonly #serially = createSerial();
  #working = 0;

  /** `told`: its alerts that fire by the log, by fingerprint. */
  constructor(watch: KnownWatch, parts: RunnerParts, told: ReadonlyMap<string, ToldAlert>) {
    this.watch = watch;
    this.#parts = parts;
    const prefix = toThingFingerprint(watch.settings.name, parts.where, '');
    for (const [fingerprint, alert] of told) {
      if (!fingerprint.startsWith(prefix)) continue;
      const rest = fingerprint.slice(prefix.length);
      const isUnknown = rest.startsWith(unknownMark);
      const thing = this.#find(isUnknown ? rest.slice(1) : rest);
      if (isUnknown) thing.toldUnknown = alert;
      else thing.told = alert;
      thing.isFault = thing.told !== undefined && thing.told.level === watch.type.usualLevel;
      thing.condition = beginCondition(this.#toFiring(thing.told), thing.toldUnknown !== undefined);
    }
  }

  /** Goes on with what was kept of the same things, if they are measured alike. */
  takeOver(before: WatchRunner): void {
    const { type, everyMs, settings } = before.watch;
    const { watch } = this;
    if (type !== watch.type || everyMs !== watch.everyMs || settings.metric !== watch.settings.metric) return;
    for (const { name, recent } of before.#things.values()) if (recent) this.#recentBefore.set(name, recent);
  }

  /** Whether an alert may be on its way to the log. */
  get isBusy(): boolean {
    return this.#working > 0;
  }

  list(): WatchedThing[] {
    return [...this.#things.values()].flatMap(({ shown }) => shown ?? []);
  }

  /** The same with what they were like in the last hours. */
  listWithRecent(): WatchedThing[] {
    return [...this.#things.values()].flatMap(({ shown, recent }) =>
      shown ? { ...shown, recent: recent ? this.#toReadings(recent) : null } : [],
    );
  }

  /** The alerts that fire by the log. */
  listTold(): Map<string, ToldAlert> {
    const { settings } = this.watch;
    const all = new Map<string, ToldAlert>();
    for (const { name, told, toldUnknown } of this.#things.values()) {
      const add = (mark: string, alert: ToldAlert | undefined): void => {
        if (alert) all.set(toThingFingerprint(settings.name, this.#parts.where, mark + name), alert);
      };
      add('', told);
      add(unknownMark, toldUnknown);
    }
    return all;
  }

  /** Takes over what a check has found; an Error stands for a check that could not be made. Never rejects. */
  take(found: readonly Finding[] | Error): Promise<void> {
    return this.#work(() => this.#take(found));
  }

  /** Ends all alerts, because nothing is watched any more; resolves to whether that is in the log. */
  end(reason: string): Promise<boolean> {
    return this.#work(async () => {
      for (const thing of this.#things.values()) Object.assign(thing, { condition: beginCondition(), words: reason });
      await this.#settle();
      return this.listTold().size === 0;
    });
  }

  /** Resolves when nothing is on its way to the log. */
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
    await this.#settle();
  }

  #find(name: string): Thing {
    const known = this.#things.get(name);
    if (known) return known;
    const nothing = {
      shown: undefined,
      told: undefined,
      toldUnknown: undefined,
      words: '',
      limitWords: '',
      isFault: false,
      recent: undefined,
    };
    const thing: Thing = { name, condition: beginCondition(), ...nothing };
    this.#things.set(name, thing);
    return thing;
  }

  #observe(thing: Thing, finding: Finding, at: number): void {
    const limits = finding.limits ?? this.watch.limits;
    const observation =
      'isUnknown' in finding
        ? undefined
        : 'isBad' in finding
          ? observeFault(finding.isBad)
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

  /** With what the history has of it. */
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
      figures: figures.map((figure) => figure && toShort(figure)),
      bad,
    };
  }

  #show(thing: Thing, finding: Finding, isUnknown: boolean): void {
    const { firing, limitSince } = thing.condition;
    const rest = isUnknown ? 'cannot check' : limitSince === undefined ? 'ok' : 'pending';
    const state = firing && !isUnknown ? 'firing' : rest;
    const now = this.#parts.clock().toISOString();
    const { shown, told, toldUnknown } = thing;
    // Before a restart, or before the watch was changed, its alert was raised.
    const alert = state === 'firing' ? told : isUnknown ? toldUnknown : undefined;
    const raisedAt = shown || !alert ? undefined : readIdTime(alert.id);
    const begun = raisedAt === undefined ? now : new Date(raisedAt).toISOString();
    thing.shown = {
      thing: thing.name,
      state,
      level: firing ? this.#levelOf(firing, thing) : null,
      figure: 'figure' in finding && finding.figure !== undefined ? toShort(finding.figure) : null,
      text: finding.words,
      at: now,
      since: shown?.state === state ? shown.since : begun,
      recent: null,
    };
  }

  #levelOf(firing: 'limit' | 'critical', { isFault }: Pick<Thing, 'isFault'>): Severity {
    if (firing === 'critical') return 'CRITICAL';
    const { settings, type } = this.watch;
    return settings.level ?? ((isFault && type.usualLevel) || 'WARNING');
  }

  #toFiring(told: ToldAlert | undefined): ConditionState['firing'] {
    if (!told) return undefined;
    const isCritical = this.watch.limits?.critical !== undefined && told.level === 'CRITICAL';
    return isCritical && this.watch.settings.level !== 'CRITICAL' ? 'critical' : 'limit';
  }

  #describeGone(name: string): string {
    if (name === allThings) return 'it can be checked again';
    return this.watch.type.goneWords?.(name) ?? `${name} is not there any more`;
  }

  /** Makes the log say what fires and what does not. */
  async #settle(): Promise<void> {
    for (const thing of [...this.#things.values()]) {
      const { firing, isUnknownTold } = thing.condition;
      const { name: watch } = this.watch.settings;
      try {
        const level = firing && this.#levelOf(firing, thing);
        thing.told = await this.#tell(thing, '', thing.told, level, thing.words + thing.limitWords);
        const unknownLevel = isUnknownTold ? this.#levelOf('limit', { isFault: false }) : undefined;
        const words = isUnknownTold ? `Watch ${watch} cannot check: ${thing.words}` : thing.words;
        thing.toldUnknown = await this.#tell(thing, unknownMark, thing.toldUnknown, unknownLevel, words);
      } catch (error) {
        this.#parts.onUnstored(error as Error);
        return;
      }
      if (!thing.shown && !thing.told && !thing.toldUnknown) this.#things.delete(thing.name);
    }
  }

  /** Stores the alert that the log lacks, if there is one; resolves to what it says then. */
  async #tell(
    thing: Thing,
    mark: string,
    told: ToldAlert | undefined,
    level: Severity | undefined,
    words: string,
  ): Promise<ToldAlert | undefined> {
    if (told?.level === level) return told;
    const { settings, type } = this.watch;
    const { raise, where, isGone, clock } = this.#parts;
    // Any type stands for that of a watch that is gone: it is of the network if it has no place.
    const isOfNetwork = isGone ? where === '' : type.scope(settings) === 'network';
    const since = thing.shown?.since ?? clock().toISOString();
    const about = {
      source: `watch/${settings.name}`,
      format: 'watch',
      fingerprint: toThingFingerprint(settings.name, where, mark + thing.name),
      // No machine is at fault: any could have checked it.
      ...(isOfNetwork && { hostname: '' }),
      labels: isGone ? {} : { watch: settings.name, type: type.name, thing: thing.name },
    };
    const runbook = settings.message ? { details: settings.message } : {};
    const isNamed = !isOfNetwork || mark === unknownMark;
    const named = isNamed ? words : `${settings.name}: ${words}`;
    const sentence = isNamed ? toSentence(words, thing.name) : named;
    if (level !== undefined) {
      const { id } = await raise({ ...about, ...runbook, level, message: sentence, status: 'firing', startsAt: since });
      return { id, level };
    }
    if (!told) return undefined;
    const ended = { resolves: told.id, firingLevel: told.level };
    await raise({ ...about, ...ended, level: 'INFO', message: markResolved(named), status: 'resolved' });
    return undefined;
  }
}

/** Begins with a capital letter, unless it begins with a name. */
const toSentence = (words: string, thing: string): string =>
  words.startsWith(thing.replace(/ .*/, '')) ? words : words.charAt(0).toUpperCase() + words.slice(1);

const toShort = (figure: number): number =>
  Math.abs(figure) >= 1000 ? Math.round(figure) : Number(figure.toPrecision(5));
