import type { RuntimeSetting } from '../../kit/setting-store.ts';
import type { LogRecord, StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import type { AuditNote } from './audit-note.ts';

/** Version and creation time of a setting in its original log. */
interface Origin {
  version: number;
  createdAt: number;
}

/** Limits for one kind of setting. They are stored with each change, so that all instances decide alike. */
interface ChangeLimits {
  /** Maximum number of settings of this kind. */
  count?: number;
  /** Maximum number of characters in all values of this kind, as JSON. */
  characters: number;
  /** True if names that differ only in case count as the same name. */
  isCaseless?: boolean;
}

/** Change to a setting, as stored in the log. */
export interface SettingChange {
  kind: string;
  name: string;
  /** Null for a deletion. */
  value: unknown;
  by: string;
  /** Unix milliseconds. */
  at: number;
  /** Accepted versions. The change is rejected if the current version is not among them. */
  expected?: readonly number[];
  note?: AuditNote;
  /** Limits that must still be met after the change. */
  limits?: ChangeLimits;
  /** Set in a copy of a setting. A log needs copies if its older files are missing. */
  copied?: Origin;
  /** Set in a change imported from another store. */
  moved?: Origin;
}

/** Reason why a change is rejected: the current version, the exceeded limit, or the name that is already taken. */
export type SettingRefusal = { conflict: number } | { full: 'count' | 'characters' } | { taken: string };

/**
 * Result of a change: the new setting (undefined after a deletion) with its kind, or the reason why the change was
 * rejected.
 */
export type ChangeOutcome =
  | { setting: RuntimeSetting | undefined; changed: string | undefined }
  | { refusal: SettingRefusal };

type Kept = RuntimeSetting & { length: number };

interface Kind {
  settings: Map<string, Kept>;
  /** Total length of all values as JSON, in characters. */
  characters: number;
}

/** Entry in a snapshot. */
export type SettingsSnapshotEntry =
  | { ahead: number; refused: readonly number[]; last?: number }
  | { kind: string; name: string; value: unknown; by: string; at: number; version: number; createdAt: number };

/** Maximum number of rejected changes that are remembered. */
const maxRefused = 10_000;

/** Folds the change log into the current settings. */
export class SettingsFold implements ProjectionState<ChangeOutcome> {
  readonly #kinds = new Map<string, Kind>();
  /** Seqs of changes without effect. They were rejected, or they may be in the log although storing them failed. */
  readonly #refused = new Set<number>();
  /**
   * Seq of the last change. Undefined after the restore of a snapshot of version 1.1, because such a snapshot does not
   * contain it.
   */
  #last: number | undefined = 0;
  /** Difference between versions and seqs. Positive after an import, so that no version is used twice. */
  #ahead = 0;

  list(kind: string): IterableIterator<RuntimeSetting> {
    return (this.#kinds.get(kind)?.settings ?? new Map<string, Kept>()).values();
  }

  find(kind: string, name: string): Kept | undefined {
    return this.#kinds.get(kind)?.settings.get(name);
  }

  /** Returns the version of a setting that was changed at this position in the log. */
  versionAt(seq: number): number {
    return seq + this.#ahead;
  }

  /** True if the change at this position in the log took effect. */
  counts(seq: number): boolean {
    return seq <= (this.#last ?? seq) && !this.#refused.has(seq);
  }

  /** Returns the reason why the change would be rejected now. */
  findRefusal(change: SettingChange): SettingRefusal | undefined {
    const decision = this.#decide(change);
    return 'refusal' in decision ? decision.refusal : undefined;
  }

  fold({ seq, ...record }: StoredRecord): ChangeOutcome {
    for (let missing = Math.max((this.#last ?? seq) + 1, seq - maxRefused); missing < seq; missing += 1) {
      this.#noteRefused(missing);
    }
    this.#last = seq;
    const change = record as LogRecord as unknown as SettingChange;
    // A record that only fills a gap in the log.
    if (typeof change.kind !== 'string') return { setting: undefined, changed: undefined };
    const decision = this.#decide(change);
    if ('refusal' in decision) {
      this.#noteRefused(seq);
      return decision;
    }
    const { kind, name, value, by, at, copied, moved = copied } = change;
    for (const ended of decision.removed) this.#remove(kind, ended);
    if (isDeletion(change)) return { setting: undefined, changed: this.#remove(kind, name) ? kind : undefined };
    if (moved) this.#ahead = Math.max(this.#ahead, moved.version - seq);
    const version = moved?.version ?? this.versionAt(seq);
    const createdAt = moved?.createdAt ?? this.find(kind, name)?.createdAt ?? at;
    return { setting: this.#put(kind, { name, value, version, by, at, createdAt }), changed: kind };
  }

  save(): (readonly SettingsSnapshotEntry[])[] {
    const settings = [...this.#kinds].flatMap(([kind, { settings }]) =>
      Array.from(settings.values(), ({ length: _, ...setting }): readonly SettingsSnapshotEntry[] => [
        { kind, ...setting },
      ]),
    );
    return [
      [{ ahead: this.#ahead, refused: [...this.#refused], ...(this.#last !== undefined && { last: this.#last }) }],
      ...settings,
    ];
  }

  restore(entry: unknown): void {
    const saved = entry as SettingsSnapshotEntry;
    if ('ahead' in saved) {
      this.#ahead = saved.ahead;
      this.#last = saved.last;
      for (const seq of saved.refused) this.#noteRefused(seq);
      return;
    }
    const { kind, ...setting } = saved;
    this.#put(kind, setting);
  }

  #put(kind: string, setting: RuntimeSetting): RuntimeSetting {
    const known = this.#kinds.get(kind) ?? { settings: new Map<string, Kept>(), characters: 0 };
    this.#kinds.set(kind, known);
    const { length } = JSON.stringify(setting.value);
    known.characters += length - (known.settings.get(setting.name)?.length ?? 0);
    const kept = { ...setting, length };
    known.settings.set(setting.name, kept);
    return kept;
  }

  #remove(kind: string, name: string): boolean {
    const known = this.#kinds.get(kind);
    if (known) known.characters -= known.settings.get(name)?.length ?? 0;
    return known?.settings.delete(name) ?? false;
  }

  #noteRefused(seq: number): void {
    this.#refused.add(seq);
    const [oldest] = this.#refused;
    if (this.#refused.size > maxRefused && oldest !== undefined) this.#refused.delete(oldest);
  }

  /**
   * Returns the reason why the change is rejected or, if it is accepted, the names of ended settings to remove to make
   * room.
   */
  #decide(change: SettingChange): { refusal: SettingRefusal } | { removed: readonly string[] } {
    const { kind, name, value, at, expected, limits } = change;
    const known = this.#kinds.get(kind);
    const current = known?.settings.get(name);
    if (expected !== undefined && !expected.includes(current?.version ?? 0)) {
      return { refusal: { conflict: current?.version ?? 0 } };
    }
    // A change that ends a setting never fails because of a limit.
    if (!known || !limits || isDeletion(change) || (current && hasEnded(value, at))) return { removed: [] };
    const taken = limits.isCaseless && !current && findSame(known.settings.keys(), name);
    if (taken) return { refusal: { taken } };
    const growth = JSON.stringify(value).length - (current?.length ?? 0);
    const excess = {
      count: current ? 0 : known.settings.size + 1 - (limits.count ?? Number.POSITIVE_INFINITY),
      characters: growth > 0 ? known.characters + growth - limits.characters : 0,
    };
    const removed: string[] = [];
    if (excess.count <= 0 && excess.characters <= 0) return { removed };
    for (const { name: ended, length } of listEnded(known.settings, at, name)) {
      if (excess.count <= 0 && excess.characters <= 0) break;
      removed.push(ended);
      excess.count -= 1;
      excess.characters -= length;
    }
    if (excess.count > 0) return { refusal: { full: 'count' } };
    return excess.characters > 0 ? { refusal: { full: 'characters' } } : { removed };
  }
}

const isDeletion = ({ value }: SettingChange): boolean => value === null || value === undefined;

/** Returns the time at which a setting ends, in Unix milliseconds. Undefined if it never ends. */
const endOf = (value: unknown): number | undefined => {
  const { endsAt } = Object(value) as { endsAt?: unknown };
  return typeof endsAt === 'number' ? endsAt : undefined;
};

const hasEnded = (value: unknown, at: number): boolean => (endOf(value) ?? Number.POSITIVE_INFINITY) <= at;

/** Lists ended settings except the one with the given name. The earliest end comes first. */
const listEnded = (settings: ReadonlyMap<string, Kept>, at: number, except: string): Kept[] =>
  [...settings.values()]
    .filter(({ name, value }) => name !== except && hasEnded(value, at))
    .sort((one, other) => (endOf(one.value) ?? 0) - (endOf(other.value) ?? 0));

const findSame = (names: Iterable<string>, name: string): string | undefined => {
  for (const one of names) if (one.toLowerCase() === name.toLowerCase()) return one;
  return undefined;
};
