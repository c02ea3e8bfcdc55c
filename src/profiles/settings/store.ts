import { StoreConflict, StoreUnavailable } from '../../expected-errors.ts';
import { HttpError } from '../../http/errors.ts';
import { JournalError, toNotStored } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { createSerial } from '../../storage/scheduling.ts';
import type { MadeSetting, SettingStore } from '../offers.ts';
import { toAuditNote } from './audit-note.ts';
import { isConflict, type Outcome, type SettingChange, SettingsFold } from './fold.ts';

const MiB = 1024 * 1024;

/** The most characters of a value as JSON, and of all values together. */
const longestValue = 64 * 1024;
const mostCharacters = 64 * MiB;

/** Milliseconds between attempts to read the log after a failure. */
const retryMs = 1000;

interface SettingsParts {
  log: RecordLog;
  clock: () => Date;
  /** Gets the number of lines that could not be read. */
  onDamage(lines: number): void;
}

type GivenChange = Omit<SettingChange, 'at' | 'expected'> & { expected: SettingChange['expected'] };

/**
 * Settings in memory: a fold over a log of changes. A change is stored first, and what became of it is known once it is folded,
 * on each instance with the same result.
 */
export class LoggedSettings implements SettingStore {
  readonly #parts: SettingsParts;
  readonly #fold = new SettingsFold();
  readonly #listeners: { kind: string; listener: () => void }[] = [];
  /** The last change that was folded. */
  #seq = 0;
  /** Changes that counted for nothing, by their seq. */
  readonly #refused = new Set<number>();
  /** What became of changes that this process waits for. */
  readonly #outcomes = new Map<number, Outcome>();
  #writing = 0;
  /** Changes that go on. */
  readonly #changes = new Set<Promise<unknown>>();
  /** Resolves when all settings are stored again that have to be. */
  #copying: Promise<unknown> = Promise.resolve();
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
    return [...(this.#fold.kinds.get(kind)?.values() ?? [])] as MadeSetting<T>[];
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
  ): Promise<MadeSetting<T>> {
    const { length } = JSON.stringify(value);
    if (length > longestValue) throw new HttpError('too-large', `A setting has at most ${longestValue} characters`);
    const growth = length - (this.#fold.find(kind, name)?.length ?? 0);
    if (growth > 0 && this.#fold.characters + growth > mostCharacters) {
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

  /** Stores all settings again: somebody has moved the log away. */
  async copy(): Promise<void> {
    // One after the other: the copy of what a change has just replaced would undo it.
    const copied = Promise.allSettled([this.#copying, ...this.#changes]).then(() => this.#copyAll());
    this.#copying = copied.catch(() => undefined);
    await copied;
  }

  async #copyAll(): Promise<void> {
    for (const [kind, settings] of this.#fold.kinds) {
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

  async #write(given: GivenChange) {
    let copying: Promise<unknown>;
    do {
      copying = this.#copying;
      await copying;
    } while (copying !== this.#copying);
    const change = this.#change(given);
    this.#changes.add(change);
    try {
      return await change;
    } finally {
      this.#changes.delete(change);
    }
  }

  async #change({ expected, ...fields }: GivenChange) {
    const { log, clock } = this.#parts;
    this.#writing += 1;
    try {
      if (expected || fields.value === null) await this.catchUp();
      else if (!this.#hasRead) await this.#readOn().catch(refuse);
      const current = this.find(fields.kind, fields.name);
      if (isConflict(expected, current)) throw toConflict(fields.name, current?.version ?? 0);
      if (fields.value === null && !current) return { setting: undefined, isChanged: false };
      const note = toAuditNote(fields.kind, current?.value, fields.value);
      const change: SettingChange = { ...fields, at: clock().getTime(), ...(expected && { expected }), note };
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
          const outcome = this.#fold.apply(record);
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
}

/** A log in files tells how many lines it has skipped. */
type ReadWithDamage = {
  readAfter(seq: number, onSkipped: (lines: number) => void): AsyncGenerator<StoredRecord[]>;
};

const toConflict = (name: string, version: number): StoreConflict =>
  new StoreConflict(
    version === 0 ? `There is no ${name} any more` : `${name} has been changed: its version is ${version}`,
    version,
  );

/** @throws StoreUnavailable where the log cannot be used; any other error passes */
const refuse = (error: unknown): never => {
  throw error instanceof JournalError ? toNotStored('Settings', error) : error;
};
