import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer, RecordId } from '../../kit/feature.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { createId, type LogRecord, type StoredRecord } from '../../storage/journal/line.ts';
import { type PortableRecord, SeenIds } from '../../storage/portable-store.ts';
import { createRecordTable } from '../../storage/postgres/record-collection.ts';
import { type SettingChange, SettingsFold, type SettingsSnapshotEntry } from './fold.ts';

const UnixMs = Type.Integer({ minimum: 0, maximum: 8.64e15 });

const StoredChange = Type.Object(
  {
    id: RecordId,
    kind: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    value: Type.Unknown({ description: 'null for a deletion' }),
    by: Type.String(),
    at: UnixMs,
    /** Version of the setting. Missing for a deletion, as is `createdAt`. */
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e15 })),
    createdAt: Type.Optional(UnixMs),
    /** Set in a copy of a setting whose changes are no longer in the log. */
    isCopy: Type.Optional(Type.Boolean()),
    /** Facts about the change for the audit. */
    note: Type.Optional(
      Type.Object(
        {
          isNew: Type.Optional(Type.Literal(true)),
          fields: Type.Optional(Type.Array(Type.String())),
          label: Type.Optional(Type.String()),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/** Exports all effective changes in order, with the resulting versions. */
export const settingsTransfer = defineTransfer<PortableRecord>({
  name: 'settings',
  lines: { settings: StoredChange },
  table: createRecordTable('setting', { timeOf: ({ at }) => Number(at) }),
  createFilter: (saved) => {
    const fold = new SettingsFold();
    const before = (saved?.changes as SettingsSnapshotEntry[] | undefined)?.flatMap((each) => {
      fold.restore(each);
      return 'kind' in each ? [toCopy(each)] : [];
    });
    return {
      before: before ?? [],
      filter: ({ id, record }, seq) => {
        const isSaved = saved !== undefined && seq <= saved.seq;
        const origin = isSaved ? findOrigin(fold, record, seq) : applyChange(fold, { ...record, id, seq });
        if (!origin) return undefined;
        const { expected: _, limits: __, copied, moved: ___, ...change } = record as unknown as SettingChange;
        const { version, createdAt } = origin;
        const from = version === undefined ? {} : { [copied ? 'copied' : 'moved']: { version, createdAt } };
        return { id, record: { ...change, ...from } };
      },
    };
  },
  toLine: ({ id, record }) => {
    const { kind, name, value, by, at, copied, moved, note } = record as unknown as SettingChange;
    const marks = { ...(copied && { isCopy: true }), ...(note && { note }) };
    return ['settings', { id, kind, name, value, by, at, ...(moved ?? copied), ...marks }];
  },
  createParser: () => {
    const seen = new SeenIds();
    return (_key, value) => {
      const { id, version, createdAt, isCopy, ...change } = value as Static<typeof StoredChange>;
      if (!seen.add(id)) throw new SettingsError(['settings.id occurs twice']);
      if (change.value === null) return { id, record: change };
      if (version === undefined || createdAt === undefined) {
        throw new SettingsError(['settings.version and settings.createdAt are missing']);
      }
      return { id, record: { ...change, [isCopy ? 'copied' : 'moved']: { version, createdAt } } };
    };
  },
});

/** Version and creation time of a setting after a change. Empty after a deletion. */
type ChangeOrigin = Partial<Pick<RuntimeSetting, 'version' | 'createdAt'>>;

/** Creates a copy of a setting whose changes may no longer be in the log. */
const toCopy = ({
  version,
  createdAt,
  ...change
}: Extract<SettingsSnapshotEntry, { kind: string }>): PortableRecord => ({
  id: createId(),
  record: { ...change, copied: { version, createdAt } },
});

/** Folds a change. Returns undefined if the change had no effect. */
const applyChange = (fold: SettingsFold, record: StoredRecord): ChangeOrigin | undefined => {
  const outcome = fold.fold(record);
  return 'refusal' in outcome || outcome.changed === undefined ? undefined : (outcome.setting ?? {});
};

/** Returns the origin of a change that has already been folded. Undefined if the change had no effect. */
const findOrigin = (fold: SettingsFold, record: LogRecord, seq: number): ChangeOrigin | undefined => {
  const { kind, name, value, at, copied, moved = copied } = record as unknown as SettingChange;
  if (typeof kind !== 'string' || !fold.counts(seq)) return undefined;
  if (value === null || value === undefined) return {};
  return moved ?? { version: fold.versionAt(seq), createdAt: Math.min(fold.find(kind, name)?.createdAt ?? at, at) };
};
