import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { SeenIds } from '../../storage/moved-store.ts';
import { createRecordTable } from '../../storage/postgres/record-tables.ts';
import type { MovedRecord } from '../../storage/record-log.ts';
import { defineTransfer, RecordId } from '../feature.ts';
import { readTime } from './alert.ts';
import { splitKey } from './intake/repeats.ts';
import { Alert } from './schema.ts';

const Text = Type.String();
const TextOrNull = Type.Union([Text, Type.Null()]);

const StoredAlert = Type.Object(
  {
    ...Alert.properties,
    ...Type.Partial(
      Type.Object({
        time: Type.String({ format: 'date-time' }),
        sender: Text,
        format: Text,
        status: Type.Enum(['firing', 'resolved']),
        fingerprint: Text,
        startsAt: TextOrNull,
        endsAt: TextOrNull,
        labels: Type.Record(Text, Text),
        link: Text,
        details: Text,
        links: Type.Record(Text, Text),
        resolves: Text,
        firingLevel: Text,
        repeatOf: Text,
        key: Text,
        bodyHash: Text,
        via: Text,
        traceparent: Text,
      }),
    ).properties,
    id: RecordId,
  },
  { additionalProperties: false },
);

/** Alerts in the order of their log, with what makes others their repeats. No destination gets those that were imported. */
export const alertTransfer = defineTransfer<MovedRecord>({
  name: 'alerts',
  lines: { alerts: StoredAlert },
  table: createRecordTable('alert', {
    timeOf: readTime,
    levelOf: ({ level }) => level,
    keys: {
      // A reminder is not the first of its series.
      read: ({ key, bodyHash, repeatOf }) => {
        if (typeof key !== 'string' || repeatOf !== undefined) return undefined;
        const { hash, state } = splitKey(key);
        return { hash, state: typeof bodyHash === 'string' ? bodyHash : state };
      },
      // A foreign alert has its key in any log, so this one came with an Idempotency-Key.
      add: (record, { hash, state }) => (record['repeatOf'] ? record : { ...record, key: hash, bodyHash: state }),
    },
  }),
  toLine: ({ id, record: { imported: _, ...record } }) => ['alerts', { ...record, id }],
  createParser: () => {
    const seen = new SeenIds();
    return (_key, value) => {
      const { id, ...record } = value as Static<typeof StoredAlert>;
      if (!seen.add(id)) throw new SettingsError(['alerts.id is that of an alert before it']);
      return { id, record: { ...record, imported: true } };
    };
  },
});
