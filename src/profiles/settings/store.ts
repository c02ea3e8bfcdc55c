import { StoreConflict, StoreUnavailable } from '../../expected-errors.ts';
import { HttpError } from '../../http/errors.ts';
import { JournalError, toReason } from '../../storage/journal/errors.ts';
import type { LogRecord, StoredRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { createSerial } from '../../storage/scheduling.ts';
import type { MadeSetting, SettingStore } from '../offers.ts';

const MiB = 1024 * 1024;

/** The most characters of a value as JSON, and of all values together. */
const longestValue = 64 * 1024;
const mostCharacters = 64 * MiB;

/** Milliseconds between attempts to read the log after a failure. */
const retryMs = 1000;

/** A change as the log has it. */
export interface SettingChange {
  kind: string;
  name: string;
  /** Null where the setting is deleted. */
  value: unknown;
  by: string;
  /** Unix milliseconds. */
  at: number;
  /** Versions of which one must be the current one, or the change counts for nothing. */
  expected?: readonly number[];
  /** Set in a copy of a setting, for a log whose files were moved away. */
  copied?: { version: number; createdAt: number };
}

/** What became of a change: the setting as it is then, or undefined where there is none; or the version that forbade it. */
type Outcome = { setting: MadeSetting | undefined; isChanged: boolean } | { conflict: number };

type Kept = MadeSetting & { length: number };

export interface SettingsParts {
  log: RecordLog;
  clock: () => Date;
  /** Gets the number of lines that could not be read. */
  onDamage(lines: number): void;
}

/**
 * Settings in memory: a fold over a log of changes. A change is stored first, and what became of it is known once it is folded,
 * on each instance with the same result.
 */
export class LoggedSettings implements SettingStore {
  readonly #parts: SettingsParts;
  readonly #kinds = new Map<string, Map<string, Kept>>();
  readonly #listeners: { kind: string; listener: () => void }[] = [];
  /** The last change that was folded. */
  #seq = 0;
  /** Changes that counted for nothing, by their seq. */
  readonly #refused = new Set<number>();
  /** What became of changes that this process waits for. */
  readonly #outcomes = new Map<number, Outcome>();
  #writing = 0;
  #characters = 0;
  readonly #serially = createSerial();
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
    return store;
  }

  list<T>(kind: string): MadeSetting<T>[] {
    return [...(this.#kinds.get(kind)?.values() ?? [])] as (Kept & MadeSetting<T>)[];
  }

  find<T>(kind: string, name: string): MadeSetting<T> | undefined {
    return this.#kinds.get(kind)?.get(name) as (Kept & MadeSetting<T>) | undefined;
  }

  async put<T>(
    kind: string,
    name: string,
    value: T,
    by: string,
    expected?: readonly number[],
  ): Promise<MadeSetting<T>> {
    const { length } = JSON.stringify(value);
    if (length > longestValue) throw new HttpError('too-large', `A setting has at most ${longestValue} characters`);
    const growth = length - (this.#kinds.get(kind)?.get(name)?.length ?? 0);
    if (growth > 0 && this.#characters + growth > mostCharacters) {
      throw new HttpError(
        'wrong-state',
        `Settings made at run time have ${mostCharacters / MiB} MiB: delete some first`,
      );
    }
    const { setting } = await this.#write({ kind, name, value, by, expected });
    return setting as MadeSetting<T>;
  }

  async delete(kind: string, name: string, by: string, expected?: readonly number[]): Promise<boolean> {
    const { isChanged } = await this.#write({ kind, name, value: null, by, expected });
    return isChanged;
  }

  onChanged(kind: string, listener: () => void): void {
    this.#listeners.push({ kind, listener });
  }

  /** Whether a change in the log counted. */
  isEffective({ seq, copied }: StoredRecord): boolean {
    return copied === undefined && !this.#refused.has(seq);
  }

  /** Whether changes are stored and read. */
  isReady(): boolean {
    return this.#hasRead && !this.#failure && this.#parts.log.state().healthy;
  }

  /** Learns what other instances have changed. */
  async catchUp(): Promise<void> {
    await this.#parts.log.refresh?.();
    await this.#readOn();
  }

  /** Stores all settings again: somebody has moved the log away. */
  async copy(): Promise<void> {
    for (const [kind, settings] of this.#kinds) {
      for (const { name, value, version, by, at, createdAt } of settings.values()) {
        const change: SettingChange = { kind, name, value, by, at, copied: { version, createdAt } };
        await this.#parts.log.append({ ...change });
      }
    }
  }

  close(): void {
    this.#stopListening();
    clearInterval(this.#retry);
  }

  async #write({
    expected,
    ...fields
  }: Omit<SettingChange, 'at' | 'expected'> & { expected: SettingChange['expected'] }) {
    const { log, clock } = this.#parts;
    this.#writing += 1;
    try {
      if (expected || fields.value === null) await this.catchUp().catch(refuse);
      else if (!this.#hasRead) await this.#readOn().catch(refuse);
      const current = this.find(fields.kind, fields.name);
      if (isConflict(expected, current)) throw toConflict(fields.name, current?.version ?? 0);
      if (fields.value === null && !current) return { setting: undefined, isChanged: false };
      const change: SettingChange = { ...fields, at: clock().getTime(), ...(expected && { expected }) };
      const { seq } = await log.append({ ...change }).catch(refuse);
      await this.#readOn().catch(refuse);
      const outcome = this.#outcomes.get(seq);
      if (!outcome) throw new StoreUnavailable('The change was stored, but cannot be read at the moment');
      if ('conflict' in outcome) throw toConflict(fields.name, outcome.conflict);
      return outcome;
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
      const recent = log.recentAfter?.(this.#seq);
      for await (const records of recent ? [recent] : this.#readLog()) {
        for (const record of records) {
          const outcome = this.#fold(record);
          if (this.#writing > 0) this.#outcomes.set(record.seq, outcome);
          if ('conflict' in outcome) this.#refused.add(record.seq);
          else if (outcome.isChanged) changed.add(String(record['kind']));
          this.#seq = record.seq;
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
  }

  #readLog(): AsyncGenerator<StoredRecord[]> {
    const log: ReadWithDamage = this.#parts.log;
    return log.readAfter(this.#seq, this.#parts.onDamage);
  }

  #fold({ seq, ...record }: StoredRecord): Outcome {
    const { kind, name, value, by, at, expected, copied } = record as LogRecord as unknown as SettingChange;
    const settings = this.#kinds.get(kind) ?? new Map<string, Kept>();
    const current = settings.get(name);
    if (isConflict(expected, current)) return { conflict: current?.version ?? 0 };
    if (value === null || value === undefined) {
      const isChanged = settings.delete(name);
      this.#characters -= current?.length ?? 0;
      return { setting: undefined, isChanged };
    }
    const { length } = JSON.stringify(value);
    const version = copied?.version ?? seq;
    const createdAt = copied?.createdAt ?? current?.createdAt ?? at;
    const setting: Kept = { name, value, version, by, at, createdAt, length };
    settings.set(name, setting);
    this.#kinds.set(kind, settings);
    this.#characters += length - (current?.length ?? 0);
    return { setting, isChanged: true };
  }
}

/** A log in files tells how many lines it has skipped. */
type ReadWithDamage = {
  readAfter(seq: number, onSkipped: (lines: number) => void): AsyncGenerator<StoredRecord[]>;
};

const isConflict = (expected: readonly number[] | undefined, current: MadeSetting | undefined): boolean =>
  expected !== undefined && !expected.includes(current?.version ?? 0);

const toConflict = (name: string, version: number): StoreConflict =>
  new StoreConflict(`${name} has been changed: its version is ${version}`, version);

/** @throws StoreUnavailable where the log cannot be used; any other error passes */
const refuse = (error: unknown): never => {
  if (!(error instanceof JournalError)) throw error;
  throw new StoreUnavailable(`Settings cannot be stored at the moment${toReason(error.cause)}; try again in a second`, {
    cause: error,
  });
};
