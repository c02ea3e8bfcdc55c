import type { FastifyBaseLogger } from 'fastify';
import { HttpError } from '../../http/errors.ts';
import { JournalError, toNotStored } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { LogFollower } from '../../storage/log-follower.ts';
import { fillUp } from '../../storage/projection.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { clampOutages, type Outage } from './judge.ts';
import {
  clampTimes,
  createHeartbeatState,
  foldHeartbeat,
  type HeartbeatRecord,
  type HeartbeatState,
  parseHeartbeatRecord,
} from './runs.ts';
import type { HeartbeatSnapshots } from './snapshots.ts';
import { HeartbeatStates } from './states.ts';

/** How many times without a server are remembered. */
const mostOutages = 10;

/** A snapshot is written after so many records, or so many bytes of them. */
const savedRecords = 20_000;
const savedBytes = 16 * 1024 * 1024;

interface StoreParts {
  log: RecordLog;
  snapshots: HeartbeatSnapshots;
  report: Pick<FastifyBaseLogger, 'error' | 'warn'>;
}

/** What was sent to heartbeats: a fold over a log, which snapshots keep short. */
export class HeartbeatStore {
  readonly snapshots: HeartbeatSnapshots;
  readonly #log: RecordLog;
  readonly #report: StoreParts['report'];
  #states = new HeartbeatStates();
  #outages: readonly Outage[] = [];
  #newer: ReadonlyMap<string, number> = new Map();
  /** The last record that was folded; undefined until the snapshot was read. */
  #seq: number | undefined;
  /** Whether the log was read to its end once. */
  #hasRead = false;
  #savedSeq = 0;
  readonly #unsaved = { records: 0, bytes: 0 };
  #saving: Promise<void> | undefined;
  readonly #follower: LogFollower;
  readonly #stopListening: () => void;
  readonly #listeners: ((name: string) => void)[] = [];

  private constructor({ log, snapshots, report }: StoreParts) {
    this.#log = log;
    this.snapshots = snapshots;
    this.#report = report;
    this.#follower = new LogFollower(log, {
      // Nothing is read before the snapshot.
      lastSeq: () => (this.#seq === undefined ? undefined : log.state().lastSeq),
      from: () => this.#seq ?? 0,
      take: (record) => this.#take(record),
    });
    this.#stopListening = log.onStored(() => void this.catchUp().catch(() => undefined));
  }

  /** Where a database cannot be used, nothing is known until it can. */
  static async open(parts: StoreParts): Promise<HeartbeatStore> {
    const store = new HeartbeatStore(parts);
    await store.catchUp().catch(() => undefined);
    const ignore = (): void => undefined;
    await parts.log.holdFrom(() => store.#savedSeq, Number.POSITIVE_INFINITY, ignore);
    return store;
  }

  /** Whether what was sent is known and can be stored. */
  get isReady(): boolean {
    return this.#seq !== undefined && this.#log.state().healthy;
  }

  /** Whether everything is folded that this process knows to be stored. */
  get isCurrent(): boolean {
    return this.isReady && (this.#log.state().lastSeq ?? 0) <= (this.#seq ?? 0);
  }

  get outages(): readonly Outage[] {
    return this.#outages;
  }

  find(name: string): HeartbeatState | undefined {
    return this.#states.get(name);
  }

  list(): IterableIterator<HeartbeatState> {
    return this.#states.values();
  }

  /** Calls the listener with the name of each heartbeat whose state is another one; empty for all. */
  onChanged(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves when the record is stored and folded. Rejects with StoreUnavailable or an HttpError. */
  async append(record: HeartbeatRecord): Promise<void> {
    // Or else it might get a seq that the snapshot has.
    if (this.#seq === undefined) await this.#restore();
    await this.#log.append({ ...record }).catch(refuse);
    await this.catchUp();
  }

  /** Forgets a heartbeat that is not defined any more. */
  forget(name: string): void {
    this.#states.delete(name);
    this.#unsaved.records += 1;
  }

  /** Folds what is stored. */
  async catchUp(): Promise<void> {
    if (this.#seq === undefined) await this.#restore();
    await this.#follower.readOn();
    this.#hasRead = true;
  }

  /** Writes a snapshot if there is enough to write. */
  async saveIfDue(): Promise<void> {
    if (this.#unsaved.records > savedRecords || this.#unsaved.bytes > savedBytes) await this.save();
  }

  /** Writes a snapshot if something has changed, or in any case. */
  save(always = false): Promise<void> {
    this.#saving ??= this.#save(always)
      .catch((err: unknown) =>
        this.#report.warn({ err }, 'heartbeats: the state cannot be written, so the log is kept'),
      )
      .finally(() => {
        this.#saving = undefined;
      });
    return this.#saving;
  }

  reopen(): Promise<void> {
    return this.#log.reopen();
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#follower.end();
    await this.#log.close();
  }

  async #restore(): Promise<void> {
    if (this.#log.state().lastSeq === undefined) return;
    const onDamage = (damage: string): void => this.#report.error({ damage }, 'heartbeats: the state is damaged');
    const states = new HeartbeatStates();
    const snapshot = await this.snapshots.read((state) => states.set(state), onDamage);
    // Somebody else may have called it meanwhile.
    if (this.#seq !== undefined) return;
    // A later record must not have a seq that the snapshot has, if the log was lost.
    if (snapshot) await fillUp(this.#log, snapshot.seq, {}).catch(refuse);
    if (this.#seq !== undefined) return;
    this.#states = states;
    this.#outages = snapshot?.outages ?? [];
    this.#newer = snapshot?.newer ?? new Map();
    this.#seq = snapshot?.seq ?? 0;
    this.#savedSeq = this.#seq;
    for (const listener of this.#listeners) listener('');
  }

  async #save(always: boolean): Promise<void> {
    const seq = this.#seq;
    if (seq === undefined || (this.#unsaved.records === 0 && !always)) return;
    const { records, bytes } = this.#unsaved;
    // States are replaced, not changed: these stay as they are.
    await this.snapshots.write({ seq, states: [...this.#states.values()], outages: this.#outages });
    this.#savedSeq = seq;
    this.#unsaved.records -= records;
    this.#unsaved.bytes -= bytes;
  }

  #take(stored: StoredRecord): void {
    // Records that were refused after a failure are missing: the next start must not take them for lost ones.
    const isAfterGap = this.#hasRead && stored.seq > (this.#seq ?? 0) + 1;
    this.#fold(stored);
    if (isAfterGap) void this.save(true);
  }

  #fold(stored: StoredRecord): void {
    this.#seq = stored.seq;
    this.#unsaved.records += 1;
    this.#unsaved.bytes += 200 + (typeof stored['output'] === 'string' ? stored['output'].length : 0);
    const record = parseHeartbeatRecord(stored);
    if (!record) return;
    if (record.type === 'outage') {
      this.#outages = [...this.#outages, { from: record.from, to: record.at }].slice(-mostOutages);
      this.#tell('');
      return;
    }
    if (record.type === 'clock') {
      for (const state of [...this.#states.values()]) this.#states.set(clampTimes(state, record.at));
      this.#outages = clampOutages(this.#outages, record.at);
      this.#tell('');
      return;
    }
    const { name, since } = record;
    if (stored.seq <= (this.#newer.get(name) ?? 0)) return;
    const known = this.#states.get(name);
    const before = known?.since === since ? known : { ...createHeartbeatState(name, since), told: known?.told ?? null };
    // One of the config file is never gone while it is pinged, and one that is expected now was made after all others: the clock
    // may have been set back meanwhile.
    const isGone = known && known.since > since && since !== 0 && record.type !== 'expected';
    const after = isGone ? foldGone(known, record) : foldHeartbeat(before, record, stored.seq);
    if (after === known) return;
    this.#states.set(after);
    this.#tell(name);
  }

  #tell(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}

/** The state after a record of an earlier heartbeat with its name: all that still counts is that the alert of that one ends. */
const foldGone = (state: HeartbeatState, record: HeartbeatRecord): HeartbeatState =>
  record.type === 'told' && record.alert === null && record.problem === state.told?.seq
    ? { ...state, told: null }
    : state;

/** @throws StoreUnavailable or an HttpError; any other error passes */
const refuse = (error: unknown): never => {
  if (!(error instanceof JournalError)) throw error;
  if (error.code === 'too-large') throw new HttpError('too-large', `The ping was not stored: ${error.message}`);
  throw toNotStored('Heartbeats', error);
};
