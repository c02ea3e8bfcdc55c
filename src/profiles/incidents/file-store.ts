import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import { ExpectedError, StoreUnavailable } from '../../expected-errors.ts';
import { Slice } from '../../slice.ts';
import type { StateFile } from '../../storage/changes/state-file.ts';
import { toNotStored } from '../../storage/journal/errors.ts';
import type { Journal } from '../../storage/journal/journal.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { SearchResult } from '../../storage/journal/read/search.ts';
import { fillUp } from '../../storage/projection.ts';
import type { Release } from '../../storage/record-log.ts';
import type { OpenLog } from '../feature.ts';
import type { SentFilter, SentNotification } from '../offers.ts';
import { type Action, type ActionOn, Fold, type Rules } from './fold.ts';
import { type StoredEvent, type StoredIncident, toFoldedAlert } from './incident.ts';
import { Incidents } from './incident-state.ts';
import { SavedState, type StatePlace } from './saved-state.ts';
import type {
  IncidentCount,
  IncidentFilter,
  IncidentList,
  IncidentName,
  IncidentStore,
  Observe,
  ReadAlerts,
} from './store.ts';

const MiB = 1024 * 1024;
const dayMs = 24 * 60 * 60_000;

/** Milliseconds for which alerts are collected, so that many are folded together. */
const collectingMs = 10;

/** Alerts that are folded in one step. */
const stepCount = 250;

/** Milliseconds between two looks at the time, and between attempts after a failure. */
const lookMs = 1000;

/** How many actions may wait for the disk. */
const mostWaiting = 10_000;

/** The most bytes of closed files of the alert log that are kept because they are not folded. */
const heldBytes = 256 * MiB;

/** Characters of comments in one record of actions, unless one alone has more. */
const recordLength = 256 * 1024;

/** Alerts of the last day are folded when there are incidents for the first time, this many at most. */
const mostOld = 1_000_000;

/** What is stored of actions: what people did at one time, after the alert with this seq was folded. */
interface ActionRecord {
  at: number;
  after: number;
  /** The number of the last incident: none is used again if the state is lost. */
  lastNumber: number;
  actions: ActionOn[];
  /** Set where the settings have changed. */
  rules?: Rules;
}

interface Waiting {
  action: ActionOn;
  expected: readonly number[] | undefined;
  resolve(incident: StoredIncident | undefined): void;
  reject(error: unknown): void;
}

interface FileStoreParts {
  alerts: Omit<ReadAlerts, 'find'>;
  openLog: OpenLog;
  file: StateFile;
  rules: Rules;
  /** Days for which resolved incidents are kept; 0 keeps them. */
  retainDays: number;
  observe: Observe;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/**
 * Incidents in memory: a fold over the alert log and a log of actions, each of which says after which alert it came. Nothing
 * is written for an alert; now and then the state is stored with its place in both logs, and a start goes on from there.
 */
export class FileIncidentStore implements IncidentStore {
  readonly #parts: FileStoreParts;
  readonly #actions: Journal;
  readonly #state: Incidents;
  /** The settings, which the state follows. */
  #rules: Rules;
  /** The last alert that was folded; undefined before the first start has found where to begin. */
  #alertSeq: number | undefined;
  /** The last record of actions that was applied. */
  #actionSeq = 0;
  readonly #saved: SavedState;
  /** Actions of before the start, the next one first, which come after alerts that are not folded yet. */
  #replayed: (ActionRecord & { seq: number })[] = [];
  /** Whether those are applied. */
  #isOpen = false;
  /** The last alert that is stored, and that was before the start. */
  #storedSeq = 0;
  #knownSeq = 0;
  #waiting: Waiting[] = [];
  readonly #listeners: ((incidents: readonly StoredIncident[]) => void)[] = [];
  #running: Promise<void> | undefined;
  #collecting: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => undefined;
  /** Why alerts are not folded. */
  #foldFailure: Error | undefined;
  /** Why actions are refused: the last record may be in the log or not. */
  #actionFailure: Error | undefined;
  #release: Release = () => undefined;
  #isClosed = false;

  private constructor(parts: FileStoreParts, actions: Journal, state: Incidents) {
    this.#parts = parts;
    this.#actions = actions;
    this.#state = state;
    this.#saved = new SavedState({ ...parts, state });
    this.#rules = parts.rules;
  }

  /** Throws a SettingsError where the log of actions cannot be opened. Alerts are folded in the background. */
  static async open(parts: FileStoreParts): Promise<FileIncidentStore> {
    const { openLog, rules } = parts;
    const options = { name: 'incidents', segmentBytes: 4 * MiB, retainBytes: 1, awaitsHold: true };
    let opened: FileIncidentStore | undefined;
    const actions = await openLog('incident log', options, ({ type }) => {
      // What somebody moved away is missing on the next start, unless the state has it.
      if (type === 'reopened' && opened) void opened.#saveMoved();
      return type === 'segments-removed';
    });
    const store = new FileIncidentStore(parts, actions, new Incidents(rules));
    try {
      await store.#load();
    } catch (error) {
      await store.close();
      throw error;
    }
    opened = store;
    return store;
  }

  async list(filter: IncidentFilter, limit: number, before?: number): Promise<IncidentList> {
    await this.#waitUntilOpen();
    return this.#state.list(filter, limit, before);
  }

  async find(id: string | number): Promise<StoredIncident | undefined> {
    await this.#waitUntilOpen();
    return this.#state.find(id);
  }

  listEvents(id: string): readonly StoredEvent[] {
    return this.#state.listEvents(id);
  }

  async *listUnsettled(): AsyncGenerator<readonly StoredIncident[]> {
    await this.#waitUntilOpen();
    yield this.#state.listUnsettled();
  }

  async listSent(filter: SentFilter, limit: number, before?: number): Promise<SentNotification[]> {
    await this.#waitUntilOpen();
    return this.#state.listSent(filter, limit, before);
  }

  async nameIncidents(alerts: readonly StoredRecord[]): Promise<(IncidentName | undefined)[]> {
    if (alerts.some(({ seq }) => seq > (this.#alertSeq ?? 0))) await this.#wake();
    return alerts.map((alert) => this.#state.nameIncident(alert));
  }

  count(): IncidentCount[] {
    return this.#state.count();
  }

  get lastCounts(): readonly IncidentCount[] {
    return this.#state.count();
  }

  get failure(): Error | undefined {
    return this.#actionFailure ?? this.#actions.state().failure ?? this.#foldFailure;
  }

  isReady(): boolean {
    return this.failure === undefined;
  }

  onChanged(listener: (incidents: readonly StoredIncident[]) => void): void {
    this.#listeners.push(listener);
  }

  async act(action: ActionOn, expected?: readonly number[]): Promise<StoredIncident | undefined> {
    await this.#waitUntilOpen();
    if (this.#actionFailure || this.#isClosed) throw createRefusal(this.#actionFailure);
    if (this.#waiting.length >= mostWaiting) throw new StoreUnavailable('Too many actions are waiting for the disk');
    return new Promise((resolve, reject) => {
      this.#waiting.push({ action, expected, resolve, reject });
      this.#wake();
    });
  }

  async catchUp(): Promise<void> {
    await this.#running;
    await this.#wake();
  }

  changeRules(rules: Rules): void {
    this.#rules = rules;
    this.#wake();
  }

  reopen(): Promise<void> {
    return this.#actions.reopen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    clearInterval(this.#looking);
    clearTimeout(this.#collecting);
    await this.#running;
    for (const { reject } of this.#waiting.splice(0)) reject(createRefusal(undefined));
    const { alertSeq, actionSeq } = this.#saved.place;
    const isChanged = (this.#alertSeq ?? 0) > alertSeq || this.#actionSeq > actionSeq;
    if (this.#isOpen && isChanged && !this.#actionFailure) await this.#save();
    await this.#saved.end();
    await this.#actions.close();
  }

  async #load(): Promise<void> {
    const { alerts, log } = this.#parts;
    const { alertSeq, actionSeq } = await this.#saved.restore();
    const { lastSeq = alertSeq ?? 0 } = alerts.state();
    this.#knownSeq = lastSeq;
    this.#actionSeq = actionSeq;
    this.#alertSeq = alertSeq;
    if (alertSeq !== undefined && alertSeq > lastSeq) {
      log.warn('incidents: the alert log was replaced; they go on at its end');
      this.#alertSeq = lastSeq;
    }
    this.#saved.begin(this.#place);
    await this.#fillUp().catch((error: Error) => {
      this.#actionFailure = error;
    });
    for await (const records of this.#actions.readAfter(actionSeq)) {
      this.#replayed.push(...(records as unknown as (ActionRecord & { seq: number })[]));
    }
    const ignore = (): void => undefined;
    await this.#actions.holdFrom(() => this.#saved.place.actionSeq, Number.POSITIVE_INFINITY, ignore);
    this.#release = await alerts.holdFrom(
      () => {
        this.#saveSoon();
        return this.#saved.place.alertSeq;
      },
      heldBytes,
      () => log.warn('incidents: alerts are deleted although they are needed to fold them again'),
    );
    // Not before: what is folded without the stored state, and all actions after it, would be stored in its place.
    this.#stopListening = alerts.onStored((seq) => this.#collect(seq));
    this.#storedSeq = alerts.state().lastSeq ?? lastSeq;
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
    void this.#wake();
  }

  /** A start skips records with a seq up to that of the state, so no later one may have it. */
  async #fillUp(): Promise<void> {
    const { lastNumber } = this.#state.counters;
    await fillUp(this.#actions, this.#saved.place.actionSeq, { at: 0, after: 0, lastNumber, actions: [] });
  }

  /** Alerts that are stored are folded first. Throws StoreUnavailable while it is not known what people did before. */
  async #waitUntilOpen(): Promise<void> {
    if (this.#isOpen && !this.#isBehind) return;
    await this.#wake();
    if (!this.#isOpen) throw new StoreUnavailable('Incidents cannot be read at the moment; try again in a second');
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  #collect(storedSeq: number): void {
    this.#storedSeq = storedSeq;
    const wake = (): void => {
      this.#collecting = undefined;
      void this.#wake();
    };
    // While they are in memory, which only the last ones are.
    if (storedSeq - (this.#alertSeq ?? 0) >= stepCount && !this.#running) setImmediate(wake);
    else this.#collecting ??= setTimeout(wake, collectingMs).unref();
  }

  /** Called now and then: time passes, and what has failed is tried again. */
  #look(): void {
    if (this.#isOpen && !this.#actionFailure && this.#saved.isDue(this.#place)) void this.#save();
    const { retainDays } = this.#parts;
    if (retainDays > 0) this.#state.forgetBefore(this.#now() - retainDays * dayMs);
    void this.#wake();
  }

  #wake(): Promise<void> {
    this.#running ??= this.#run()
      .then(() => this.#noteFolding(undefined))
      .catch((error: Error) => this.#noteFolding(error))
      .finally(() => {
        this.#running = undefined;
        // Since the last look something may have come.
        const hasMore = this.#waiting.length > 0 || (this.#isBehind && !this.#foldFailure);
        if (hasMore && !this.#isClosed) void this.#wake();
      });
    return this.#running;
  }

  #noteFolding(failure: Error | undefined): void {
    // Nobody knows what incidents are like after the alerts that cannot be read.
    if (failure) for (const { reject } of this.#waiting.splice(0)) reject(createRefusal(failure));
    if (failure && !this.#foldFailure && !this.#isClosed) {
      this.#parts.log.error({ err: failure }, 'incidents: alerts are stored, but cannot be folded at the moment');
    }
    this.#foldFailure = failure;
  }

  /** Does all there is to do, one after the other. What people do comes after the alerts that are stored by then. */
  async #run(): Promise<void> {
    if (this.#actionFailure) await this.#recover();
    this.#alertSeq ??= await this.#findStart();
    while (!this.#isClosed) {
      if (this.#isBehind) await this.#foldAlerts();
      this.#replayBefore(Number.POSITIVE_INFINITY);
      this.#isOpen = true;
      if (this.#waiting.length > 0) await this.#commit(this.#takeWaiting());
      else if (this.#isBehind) continue;
      else if (this.#actionFailure) return;
      else if (!isDeepStrictEqual(this.#state.rules, this.#rules)) await this.#commit([], this.#rules);
      else if (this.#state.listDue(this.#now()).length > 0) await this.#commit([]);
      else return;
    }
  }

  get #isBehind(): boolean {
    return this.#storedSeq > (this.#alertSeq ?? 0);
  }

  /** Where the first start begins: one day ago. */
  async #findStart(): Promise<number> {
    const { alerts } = this.#parts;
    const lastSeq = this.#storedSeq;
    const since = this.#now() - dayMs;
    let start = lastSeq + 1;
    let before: number | undefined = lastSeq > 0 ? start : undefined;
    while (before !== undefined && lastSeq - start < mostOld && !this.#isClosed) {
      const note = ({ seq }: StoredRecord): boolean => {
        start = Math.min(start, seq);
        return false;
      };
      const { next }: SearchResult = await alerts.search({ before, since, test: note, limit: 1, maxBytes: 16 * MiB });
      before = next;
    }
    if (this.#isClosed) throw new Error('the server is stopping');
    const lastNumber = Math.max(0, ...this.#replayed.map((record) => record.lastNumber));
    this.#state.counters = { ...this.#state.counters, lastNumber, oldUntil: lastSeq };
    this.#alertSeq = start - 1;
    // So that the next start begins at the same place.
    await this.#save();
    return start - 1;
  }

  /** Folds alerts up to the end of the log. */
  async #foldAlerts(): Promise<void> {
    const { alerts } = this.#parts;
    const lastSeq = this.#storedSeq;
    const slice = new Slice();
    for await (const records of alerts.readAfter(this.#alertSeq ?? 0)) {
      for (let at = 0; at < records.length; at += stepCount) {
        this.#foldStep(records.slice(at, at + stepCount));
        if (slice.isOver) await slice.giveWay();
        if (this.#isClosed) return;
      }
    }
    // The last ones may be damaged, or somebody has deleted them.
    this.#alertSeq = Math.max(lastSeq, this.#alertSeq ?? 0);
  }

  #foldStep(records: readonly StoredRecord[]): void {
    const before = this.#replayed[0]?.after ?? Number.POSITIVE_INFINITY;
    const early = records.filter(({ seq }) => seq <= before);
    const last = early.at(-1);
    if (last) {
      const alerts = early.map(toFoldedAlert);
      const fold = new Fold(this.#state, this.#state.rules, Math.max(...alerts.map(({ at }) => at)));
      for (const alert of alerts) fold.addAlert(alert);
      this.#take(fold, last.seq > this.#knownSeq);
      this.#alertSeq = last.seq;
    }
    if (early.length === records.length) return;
    this.#replayBefore(records[early.length]?.seq ?? 0);
    this.#foldStep(records.slice(early.length));
  }

  /** Applies the actions of before the start that come before an alert. */
  #replayBefore(seq: number): void {
    for (let record = this.#replayed[0]; record && record.after < seq; record = this.#replayed[0]) {
      this.#replayed.shift();
      const fold = new Fold(this.#state, this.#state.rules, record.at);
      fold.advance(record.at);
      for (const action of record.actions) passIfRefused(() => fold.act({ ...action, at: record.at } as Action));
      this.#take(fold, false);
      if (record.rules) this.#state.rules = record.rules;
      this.#actionSeq = record.seq;
    }
  }

  /** What was stored before the start is no news. */
  #take(fold: Fold, isNew: boolean): void {
    this.#state.take(fold);
    if (!isNew || fold.changed.size === 0) return;
    this.#parts.observe(fold.measured);
    const changed = [...fold.changed.values()];
    for (const listener of this.#listeners) listener(changed);
  }

  /** The actions that wait, up to the length of a record. */
  #takeWaiting(): Waiting[] {
    let count = 0;
    let length = 0;
    for (const { action } of this.#waiting) {
      length += 256 + ('comment' in action ? (action.comment?.length ?? 0) : 0);
      if (count > 0 && length > recordLength) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Lets time pass, does what people want, stores it, and then takes it over. */
  async #commit(waiting: readonly Waiting[], rules?: Rules): Promise<void> {
    const at = this.#now();
    const fold = new Fold(this.#state, this.#state.rules, at);
    fold.advance(at);
    const done: { one: Waiting; incident: StoredIncident }[] = [];
    for (const one of waiting) {
      try {
        const incident = fold.act({ ...one.action, at } as Action, one.expected);
        if (incident) done.push({ one, incident });
        else one.resolve(undefined);
      } catch (error) {
        one.reject(error);
      }
    }
    if (fold.changed.size === 0 && !rules) {
      for (const { one, incident } of done) one.resolve(incident);
      return;
    }
    const { lastNumber } = this.#state.counters;
    const actions = done.map(({ one }) => one.action);
    const record = { at, after: this.#alertSeq ?? 0, lastNumber, actions, ...(rules && { rules }) };
    try {
      const { seq } = await this.#actions.append(record satisfies ActionRecord);
      this.#actionSeq = seq;
    } catch (error) {
      this.#actionFailure = error as Error;
      for (const one of [...waiting, ...this.#waiting.splice(0)]) one.reject(createRefusal(error as Error));
      return;
    }
    this.#take(fold, true);
    if (rules) this.#state.rules = rules;
    for (const { one, incident } of done) one.resolve(incident);
  }

  /** Accepts actions again once it is certain that the one that failed counts for nothing. */
  async #recover(): Promise<void> {
    const { healthy, assignedSeq } = this.#actions.state();
    if (!healthy) return;
    if (assignedSeq < this.#actionSeq) {
      const isFilled = await this.#fillUp().then(
        () => true,
        () => false,
      );
      if (!isFilled) return;
    }
    if (assignedSeq > this.#actionSeq) {
      const before = this.#actionSeq;
      this.#actionSeq = assignedSeq;
      if (!(await this.#save())) {
        this.#actionSeq = before;
        return;
      }
    }
    this.#actionFailure = undefined;
  }

  /** Stores the state because alerts are to be deleted that were folded since. */
  #saveSoon(): void {
    if (!this.#isOpen || this.#isClosed || this.#actionFailure || !this.#saved.isWanted(this.#place.alertSeq)) return;
    void this.#save().then((isSaved) => isSaved && this.#release());
  }

  async #saveMoved(): Promise<void> {
    if (this.#isOpen && !this.#actionFailure) await this.#save();
  }

  /** Stores the state; resolves to whether that has worked. */
  #save(): Promise<boolean> {
    return this.#saved.save(() => this.#place);
  }

  /** How far the state is. */
  get #place(): StatePlace {
    return { alertSeq: this.#alertSeq ?? 0, actionSeq: this.#actionSeq };
  }
}

/** An action of before the start whose incident is lost. */
const passIfRefused = (action: () => unknown): void => {
  try {
    action();
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
};

const createRefusal = (cause: Error | undefined): StoreUnavailable => toNotStored('Changes of incidents', cause);
