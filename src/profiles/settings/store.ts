import { StoreConflict, StoreUnavailable } from '../../expected-errors.ts';
import { HttpError } from '../../http/errors.ts';

import type { StateFile } from '../../storage/changes/state-file.ts';
import { JournalError, toNotStored } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { fillUp } from '../../storage/projection.ts';
import type { RecordLog, Release } from '../../storage/record-log.ts';
import { createSerial } from '../../storage/scheduling.ts';
import type { MadeSetting, PutOptions, SettingStore } from '../offers.ts';
import { toAuditNote } from './audit-note.ts';
import { type Outcome, type SavedSettings, type SettingChange, type SettingRefusal, SettingsFold } from './fold.ts';

const MiB = 1024 * 1024;

/** The most characters of a value as JSON. */
const longestValue = 64 * 1024;

/** The most characters of all values of a kind that asks for no other bound. */
const usualCharacters = 4 * MiB;

/** The state is saved when the log has grown by so many characters, and by as much as the state takes up. */
const leastGrowth = 4 * MiB;

/** Characters of a record besides its value, about. */
const recordLength = 300;

/** Milliseconds between attempts to read the log after a failure. */
const retryMs = 1000;

interface SettingsParts {
  log: RecordLog;
  /** The settings as of a place in the log; undefined where the log alone has them. */
  state?: StateFile | undefined;
  /** Rejects while space is short, except for revocations. */
  assertSpace?: ((bytes: number) => Promise<void>) | undefined;
  clock: () => Date;
  /** Gets a setting that cannot be read, and the reason, once. */
  onBroken(kind: string, name: string, reason: string): void;
  /** Gets what is damaged in the state, as a clause. */
  onDamage(damage: string): void;
  /** Gets the error when the state could not be saved; the log is kept then. */
  onUnsaved(error: Error): void;
}

/** A setting that this version cannot read. */
export interface BrokenSetting extends Omit<MadeSetting, 'value' | 'createdAt'> {
  kind: string;
  reason: string;
}

/**
 * Settings in memory: a fold over a log of changes. A change is stored first, and its outcome is known once it is folded, on
 * each instance with the same result.
 */
export class LoggedSettings implements SettingStore {
  readonly #parts: SettingsParts;
  #fold = new SettingsFold();
  readonly #listeners: { kind: string; listener: () => void }[] = [];
  /** Reasons why settings cannot be read, by kind and name. */
  readonly #broken = new Map<string, ReadonlyMap<string, string>>();
  /** The last change that was folded; undefined until the state was read. */
  #seq: number | undefined;
  #savedSeq = 0;
  /** Characters of the log after the saved state. */
  #growth = 0;
  #isSaveDue = false;
  #release: Release = () => undefined;
  /** Outcomes of changes that this process waits for. */
  readonly #outcomes = new Map<number, Outcome>();
  #writing = 0;
  readonly #serially = createSerial();
  readonly #saveSerially = createSerial();
  #nextRead: Promise<void> | undefined;
  #failure: Error | undefined;
  #hasRead = false;
  readonly #retry: NodeJS.Timeout;
  readonly #stopListening: () => void;

  private constructor(parts: SettingsParts) {
    this.#parts = parts;
    const readOn = (): void => void this.#readOn().catch(() => undefined);
    this.#stopListening = parts.log.onStored(readOn);
    this.#retry = setInterval(() => {
      if (this.#failure || !this.#hasRead) readOn();
    }, retryMs).unref();
  }

  /** Where a database cannot be used, there are no settings until it can. */
  static async open(parts: SettingsParts): Promise<LoggedSettings> {
    const store = new LoggedSettings(parts);
    if (parts.log.state().lastSeq !== undefined) await store.#readOn().catch(() => undefined);
    if (parts.state) {
      const ignore = (): void => undefined;
      store.#release = await parts.log.holdFrom(() => store.#savedSeq, Number.POSITIVE_INFINITY, ignore);
    }
    return store;
  }

  list<T>(kind: string): MadeSetting<T>[] {
    return [...this.#fold.list(kind)] as MadeSetting<T>[];
  }

  find<T>(kind: string, name: string): MadeSetting<T> | undefined {
    return this.#fold.find(kind, name) as MadeSetting<T> | undefined;
  }

  async put<T>(
    kind: string,
    name: string,
    value: T,
    by: string,
    expected?: readonly number[],
    options: PutOptions = {},
  ): Promise<MadeSetting<T>> {
    const { most, isCaseless, characters = usualCharacters, isRevocation } = options;
    const { length } = JSON.stringify(value);
    if (length > longestValue) throw new HttpError('too-large', `A setting has at most ${longestValue} characters`);
    if (!isRevocation) await this.#parts.assertSpace?.(length).catch(refuseSpace);
    const limits = { characters, ...(most && { count: most.count }), ...(isCaseless && { isCaseless }) };
    const change = { kind, name, value, by, ...(expected && { expected }), ...(!isRevocation && { limits }) };
    const outcome = await this.#write(change);
    if ('refusal' in outcome) throw toError(name, outcome.refusal, options);
    return outcome.setting as MadeSetting<T>;
  }

  async delete(kind: string, name: string, by: string, expected?: readonly number[]): Promise<boolean> {
    const outcome = await this.#write({ kind, name, value: null, by, ...(expected && { expected }) });
    if ('refusal' in outcome) throw toError(name, outcome.refusal, {});
    return outcome.isChanged;
  }

  noteBroken(kind: string, reasons: ReadonlyMap<string, string>): void {
    const before = this.#broken.get(kind);
    this.#broken.set(kind, new Map(reasons));
    for (const [name, reason] of reasons) if (before?.get(name) !== reason) this.#parts.onBroken(kind, name, reason);
  }

  /** The settings that cannot be read, with the reasons. */
  listBroken(): BrokenSetting[] {
    return [...this.#broken].flatMap(([kind, reasons]) =>
      [...reasons].flatMap(([name, reason]) => {
        const setting = this.#fold.find(kind, name);
        return setting ? [{ kind, name, reason, by: setting.by, at: setting.at, version: setting.version }] : [];
      }),
    );
  }

  onChanged(kind: string, listener: () => void): void {
    this.#listeners.push({ kind, listener });
  }

  /** Whether a change in the log counted. */
  isEffective({ seq, copied, kind }: StoredRecord): boolean {
    return typeof kind === 'string' && copied === undefined && !this.#fold.isRefused(seq);
  }

  /** Whether changes are stored and read. */
  isReady(): boolean {
    return this.#hasRead && !this.#failure && this.#parts.log.state().healthy;
  }

  isRead(): boolean {
    return this.#hasRead;
  }

  async catchUp(): Promise<void> {
    try {
      await this.#parts.log.refresh?.();
      await this.#readOn();
    } catch (error) {
      refuse(error);
    }
  }

  /** Saves the state, so that the log before it is not needed. */
  save(): Promise<void> {
    return this.#saveSerially(() => this.#save());
  }

  async close(): Promise<void> {
    this.#stopListening();
    clearInterval(this.#retry);
    await this.#saveSerially(async () => undefined);
  }

  async #write(given: Omit<SettingChange, 'at'>): Promise<Outcome> {
    const { log, clock } = this.#parts;
    this.#writing += 1;
    try {
      if (given.expected || given.value === null) await this.catchUp();
      else if (!this.#hasRead) await this.#readOn().catch(refuse);
      const change: SettingChange = { ...given, at: clock().getTime() };
      const refusal = this.#fold.findRefusal(change);
      if (refusal) return { refusal };
      const current = this.find(given.kind, given.name);
      if (given.value === null && !current) return { setting: undefined, isChanged: false };
      const note = toAuditNote(given.kind, current?.value, given.value);
      const { seq } = await log.append({ ...change, note }).catch((error) => {
        // The record may be in the log or not: the state, as it is here, is saved as of a later one.
        this.#isSaveDue = true;
        return refuse(error);
      });
      await this.#readOn().catch(refuse);
      const outcome = this.#outcomes.get(seq);
      if (outcome) return outcome;
      throw new StoreUnavailable('The change was stored, but cannot be read at the moment');
    } finally {
      this.#writing -= 1;
      if (this.#writing === 0) this.#outcomes.clear();
    }
  }

  /** Folds up to the end of the log, as it is when the reading begins. */
  #readOn(): Promise<void> {
    this.#nextRead ??= this.#serially(() => {
      this.#nextRead = undefined;
      return this.#read();
    });
    return this.#nextRead;
  }

  async #read(): Promise<void> {
    const { log } = this.#parts;
    const changed = new Set<string>();
    try {
      const from = this.#seq ?? (await this.#restore());
      const recent = log.recentAfter?.(from);
      for await (const records of recent ? [recent] : log.readAfter(from)) {
        for (const record of records) {
          const kind = this.#apply(record);
          if (kind !== undefined) changed.add(kind);
        }
      }
      this.#failure = undefined;
      this.#hasRead = true;
    } catch (error) {
      this.#failure = error as Error;
      throw error;
    } finally {
      for (const { kind, listener } of this.#listeners) if (changed.has(kind)) listener();
    }
    this.#saveIfDue();
  }

  /** Resolves to the place in the log as of which the state was saved. */
  async #restore(): Promise<number> {
    const { log, state, onDamage } = this.#parts;
    const fold = new SettingsFold();
    const seq = (await state?.read((saved) => fold.restore(saved as SavedSettings), onDamage)) ?? 0;
    // A later record must not have a seq that the state has, if the log was lost.
    if (state) await fillUp(log, seq, {});
    this.#fold = fold;
    this.#seq = seq;
    this.#savedSeq = seq;
    return seq;
  }

  /** Returns the kind that has changed, if one has. */
  #apply(record: StoredRecord): string | undefined {
    const { seq, kind, value } = record;
    const outcome = this.#fold.apply(record);
    if (this.#writing > 0) this.#outcomes.set(seq, outcome);
    // Records that were refused after a failure are missing: the next start must not take them for lost ones.
    if (this.#hasRead && seq > (this.#seq ?? 0) + 1) this.#isSaveDue = true;
    this.#seq = seq;
    this.#growth += recordLength + (JSON.stringify(value)?.length ?? 0);
    return 'isChanged' in outcome && outcome.isChanged ? String(kind) : undefined;
  }

  #saveIfDue(): void {
    const { state, log } = this.#parts;
    if (!state || !log.state().healthy) return;
    if (!this.#isSaveDue && this.#growth <= Math.max(leastGrowth, state.size)) return;
    this.#isSaveDue = false;
    void this.save().catch(() => undefined);
  }

  async #save(): Promise<void> {
    const { state, onUnsaved } = this.#parts;
    const seq = this.#seq;
    if (!state || seq === undefined) return;
    // Not again with the next change, but when the log has grown by as much again.
    this.#growth = 0;
    try {
      await state.write(seq, [...this.#fold.save()]);
    } catch (error) {
      onUnsaved(error as Error);
      throw error;
    }
    this.#savedSeq = seq;
    this.#release();
  }
}

const toError = (name: string, refusal: SettingRefusal, { most, characters = usualCharacters }: PutOptions): Error => {
  if ('conflict' in refusal) return toConflict(name, refusal.conflict);
  const plural = most?.plural ?? 'settings of this kind';
  if ('taken' in refusal) {
    return new HttpError(
      'wrong-state',
      `There are ${plural}, and one of them is ${refusal.taken}: choose another name`,
    );
  }
  const advice = most?.advice ?? 'delete some first';
  return refusal.full === 'count'
    ? new HttpError('wrong-state', `There are ${most?.count} ${plural}: ${advice}`)
    : new HttpError('wrong-state', `The ${plural} take up their ${characters / MiB} MiB: ${advice}`);
};

const toConflict = (name: string, version: number): StoreConflict =>
  new StoreConflict(
    version === 0 ? `There is no ${name} any more` : `${name} has been changed: its version is ${version}`,
    version,
  );

const refuseSpace = (cause: unknown): never => {
  throw toNotStored('Settings', new Error('space is short', { cause }));
};

/** @throws StoreUnavailable where the log cannot be used; any other error passes */
const refuse = (error: unknown): never => {
  throw error instanceof JournalError ? toNotStored('Settings', error) : error;
};
