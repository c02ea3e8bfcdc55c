import { HttpError } from '../../http/errors.ts';
import {
  type BrokenReason,
  type PutOptions,
  type RuntimeSetting,
  type SettingStore,
  toVersionConflict,
} from '../../kit/setting-store.ts';
import { MiB } from '../../lib/units.ts';
import { JournalError, toNotStored } from '../../storage/journal/errors.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { Projection } from '../../storage/projection.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import { toAuditNote } from './audit-note.ts';
import { type ChangeOutcome, type SettingChange, type SettingRefusal, SettingsFold } from './fold.ts';

/** Maximum length in characters of a value as JSON. */
const maxValueLength = 64 * 1024;

/** Maximum number of characters in all values of a kind. A kind can have its own limit instead. */
const defaultMaxCharacters = 4 * MiB;

interface SettingsParts {
  log: RecordLog;
  /** Snapshot of the settings. Undefined if only the log exists. */
  state?: ProjectionSnapshot | undefined;
  /** Rejects while disk space is low. Not called for revocations. */
  assertSpace?: ((bytes: number) => Promise<void>) | undefined;
  clock: () => Date;
  /** Reports an unreadable setting. Called once per reason. */
  onBroken(kind: string, name: string, reason: string): void;
  /** Reports damage to the snapshot, as a clause. */
  onDamage(damage: string): void;
  /** Reports that the snapshot could not be saved. The log is then kept. */
  onUnsaved(error: Error): void;
}

/** Setting that this version cannot read. */
export interface BrokenSetting extends Omit<RuntimeSetting, 'value' | 'createdAt'> {
  kind: string;
  reason: string;
  label: string | undefined;
}

/** Runtime settings: a projection of their change log. */
export class LoggedSettings implements SettingStore {
  readonly #parts: SettingsParts;
  readonly #projection: Projection<SettingsFold>;
  /** Unreadable settings by kind and name. */
  readonly #broken = new Map<string, ReadonlyMap<string, BrokenReason>>();

  private constructor(parts: SettingsParts, projection: Projection<SettingsFold>) {
    this.#parts = parts;
    this.#projection = projection;
  }

  /** Opens the settings. They are empty while a database is unavailable. */
  static async open(parts: SettingsParts): Promise<LoggedSettings> {
    const { log, state: snapshot, onDamage, onUnsaved } = parts;
    const createState = (): SettingsFold => new SettingsFold();
    return new LoggedSettings(parts, await Projection.open({ log, createState, snapshot, onDamage, onUnsaved }));
  }

  list<T>(kind: string): RuntimeSetting<T>[] {
    return [...this.#fold.list(kind)] as RuntimeSetting<T>[];
  }

  find<T>(kind: string, name: string): RuntimeSetting<T> | undefined {
    return this.#fold.find(kind, name) as RuntimeSetting<T> | undefined;
  }

  async put<T>(
    kind: string,
    name: string,
    value: T,
    by: string,
    expected?: readonly number[],
    options: PutOptions = {},
  ): Promise<RuntimeSetting<T>> {
    const { limit, isCaseless, characters = defaultMaxCharacters, isRevocation, label } = options;
    const { length } = JSON.stringify(value);
    if (length > maxValueLength)
      throw new HttpError('too-large', `A setting must not exceed ${maxValueLength} characters`);
    if (!isRevocation) await this.#parts.assertSpace?.(length).catch(refuseSpace);
    const limits = { characters, ...(limit && { count: limit.count }), ...(isCaseless && { isCaseless }) };
    const change = { kind, name, value, by, ...(expected && { expected }), ...(!isRevocation && { limits }) };
    const outcome = await this.#write(change, label);
    if ('refusal' in outcome) throw toError(name, outcome.refusal, options);
    return outcome.setting as RuntimeSetting<T>;
  }

  async delete(kind: string, name: string, by: string, expected?: readonly number[], label?: string): Promise<boolean> {
    const outcome = await this.#write({ kind, name, value: null, by, ...(expected && { expected }) }, label);
    if ('refusal' in outcome) throw toError(name, outcome.refusal, {});
    return outcome.changed !== undefined;
  }

  noteBroken(kind: string, broken: ReadonlyMap<string, BrokenReason>): void {
    const before = this.#broken.get(kind);
    this.#broken.set(kind, new Map(broken));
    for (const [name, { reason }] of broken) {
      if (before?.get(name)?.reason !== reason) this.#parts.onBroken(kind, name, reason);
    }
  }

  /** Lists the unreadable settings, each with the reason. */
  listBroken(): BrokenSetting[] {
    return [...this.#broken].flatMap(([kind, broken]) =>
      [...broken].flatMap(([name, why]) => {
        const setting = this.#fold.find(kind, name);
        return setting ? [{ kind, name, ...why, by: setting.by, at: setting.at, version: setting.version }] : [];
      }),
    );
  }

  onChanged(kind: string, listener: () => void): void {
    this.#projection.onFolded((outcomes) => {
      const isChanged = outcomes?.some((outcome) => 'changed' in outcome && outcome.changed === kind) ?? true;
      if (isChanged) listener();
    });
  }

  /** True if a change in the log took effect. */
  isEffective({ seq, copied, kind }: StoredRecord): boolean {
    return typeof kind === 'string' && copied === undefined && this.#fold.counts(seq);
  }

  /** True if changes can be stored and read. */
  isReady(): boolean {
    return this.#projection.isReady;
  }

  isRead(): boolean {
    return this.#projection.hasRead;
  }

  async catchUp(): Promise<void> {
    await this.#projection.catchUp().catch(refuse);
  }

  /** Saves a snapshot. The log before the snapshot is then no longer needed. */
  save(): Promise<void> {
    return this.#projection.save();
  }

  close(): Promise<void> {
    return this.#projection.close();
  }

  get #fold(): SettingsFold {
    return this.#projection.state;
  }

  async #write(given: Omit<SettingChange, 'at'>, label: string | undefined): Promise<ChangeOutcome> {
    if (given.expected || given.value === null || !this.isRead()) await this.catchUp();
    const change: SettingChange = { ...given, at: this.#parts.clock().getTime() };
    // Changes that are certain to be rejected are not appended to the log.
    const refusal = this.#fold.findRefusal(change);
    if (refusal) return { refusal };
    const current = this.find(given.kind, given.name);
    if (given.value === null && !current) return { setting: undefined, changed: undefined };
    const note = toAuditNote(current?.value, given.value, label);
    return this.#projection.append({ ...change, note }).catch(refuse);
  }
}

const toError = (
  name: string,
  refusal: SettingRefusal,
  { limit, characters = defaultMaxCharacters }: PutOptions,
): Error => {
  if ('conflict' in refusal) return toVersionConflict(name, refusal.conflict);
  const plural = limit?.plural ?? 'settings of this kind';
  if ('taken' in refusal) {
    return new HttpError(
      'wrong-state',
      `${refusal.taken} already exists, and the name differs only in case: choose another name`,
    );
  }
  const advice = limit?.advice ?? 'delete some first';
  return refusal.full === 'count'
    ? new HttpError('wrong-state', `There are already ${limit?.count} ${plural}, the maximum: ${advice}`)
    : new HttpError('wrong-state', `The ${plural} have reached their limit of ${characters / MiB} MiB: ${advice}`);
};

const refuseSpace = (cause: unknown): never => {
  throw toNotStored('Settings', new Error('not enough space is free', { cause }));
};

/** Rethrows the error, or throws StoreUnavailable if the log is unusable. */
const refuse = (error: unknown): never => {
  throw error instanceof JournalError ? toNotStored('Settings', error) : error;
};
