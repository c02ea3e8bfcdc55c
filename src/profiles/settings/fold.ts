import type { LogRecord, StoredRecord } from '../../storage/journal/line.ts';
import type { MadeSetting } from '../offers.ts';
import type { AuditNote } from './audit-note.ts';

/** What a setting had where it comes from. */
interface Origin {
  version: number;
  createdAt: number;
}

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
  note?: AuditNote;
  /** Set in a copy of a setting, for a log whose files were moved away. */
  copied?: Origin;
  /** Set in a change that was made in another store, and imported. */
  moved?: Origin;
}

/** What became of a change: the setting as it is then, or undefined where there is none; or the version that forbade it. */
export type Outcome = { setting: MadeSetting | undefined; isChanged: boolean } | { conflict: number };

type Kept = MadeSetting & { length: number };

/** The settings that a log of changes has led to. */
export class SettingsFold {
  readonly kinds = new Map<string, Map<string, Kept>>();
  /** Of all values as JSON. */
  characters = 0;
  /** Versions are seqs, and this much more where there are those of another log: none ever comes twice. */
  #ahead = 0;

  find(kind: string, name: string): Kept | undefined {
    return this.kinds.get(kind)?.get(name);
  }

  /** Changes come in the order of the log. */
  apply({ seq, ...record }: StoredRecord): Outcome {
    const {
      kind,
      name,
      value,
      by,
      at,
      expected,
      copied,
      moved = copied,
    } = record as LogRecord as unknown as SettingChange;
    const settings = this.kinds.get(kind) ?? new Map<string, Kept>();
    const current = settings.get(name);
    if (isConflict(expected, current)) return { conflict: current?.version ?? 0 };
    if (value === null || value === undefined) {
      const isChanged = settings.delete(name);
      this.characters -= current?.length ?? 0;
      return { setting: undefined, isChanged };
    }
    if (moved) this.#ahead = Math.max(this.#ahead, moved.version - seq);
    const version = moved?.version ?? seq + this.#ahead;
    const createdAt = moved?.createdAt ?? current?.createdAt ?? at;
    const { length } = JSON.stringify(value);
    const setting: Kept = { name, value, version, by, at, createdAt, length };
    settings.set(name, setting);
    this.kinds.set(kind, settings);
    this.characters += length - (current?.length ?? 0);
    return { setting, isChanged: true };
  }
}

export const isConflict = (expected: readonly number[] | undefined, current: MadeSetting | undefined): boolean =>
  expected !== undefined && !expected.includes(current?.version ?? 0);
