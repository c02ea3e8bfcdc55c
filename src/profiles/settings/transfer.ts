import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { SeenIds } from '../../storage/moved-store.ts';
import { createRecordTable } from '../../storage/postgres/record-collection.ts';
import type { MovedRecord } from '../../storage/record-log.ts';
import { defineTransfer, RecordId } from '../feature.ts';
import { type SettingChange, SettingsFold } from './fold.ts';

const Time = Type.Integer({ minimum: 0, maximum: 8.64e15 });

const StoredChange = Type.Object(
  {
    id: RecordId,
    kind: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    value: Type.Unknown({ description: 'null where it is deleted' }),
    by: Type.String(),
    at: Time,
    /** Those of the setting; a deleted one has none. */
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e15 })),
    createdAt: Type.Optional(Time),
    /** It is no change, but what was left of earlier ones. */
    isCopy: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** All changes that counted, in their order, with the versions that they led to. */
export const settingsTransfer = defineTransfer<MovedRecord>({
  name: 'settings',
  lines: { settings: StoredChange },
  table: createRecordTable('setting', { timeOf: ({ at }) => Number(at) }),
  createFilter: () => {
    const fold = new SettingsFold();
    return ({ id, record }, seq) => {
      const outcome = fold.apply({ ...record, id, seq });
      if ('conflict' in outcome || !outcome.isChanged) return undefined;
      const { expected: _, copied, moved: __, ...change } = record as unknown as SettingChange;
      const { version, createdAt } = outcome.setting ?? {};
      const origin = version === undefined ? {} : { [copied ? 'copied' : 'moved']: { version, createdAt } };
      return { id, record: { ...change, ...origin } };
    };
  },
  toLine: ({ id, record }) => {
    const { kind, name, value, by, at, copied, moved } = record as unknown as SettingChange;
    return ['settings', { id, kind, name, value, by, at, ...(moved ?? copied), ...(copied && { isCopy: true }) }];
  },
  createParser: () => {
    const seen = new SeenIds();
    return (_key, value) => {
      const { id, version, createdAt, isCopy, ...change } = value as Static<typeof StoredChange>;
      if (!seen.add(id)) throw new SettingsError(['settings.id is that of a change before it']);
      if (change.value === null) return { id, record: change };
      if (version === undefined || createdAt === undefined) {
        throw new SettingsError(['settings.version and settings.createdAt are missing']);
      }
      return { id, record: { ...change, [isCopy ? 'copied' : 'moved']: { version, createdAt } } };
    };
  },
});
