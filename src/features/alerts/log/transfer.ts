import Type, { type Static } from 'typebox';
import { SettingsError } from '../../../config/settings-error.ts';
import { readTime } from '../../../kit/alert-record.ts';
import { defineTransfer, RecordId } from '../../../kit/feature.ts';
import { nullable } from '../../../kit/shape.ts';
import { isFeatureEvent } from '../../../storage/journal/line.ts';
import { type PortableRecord, SeenIds } from '../../../storage/portable-store.ts';
import { createRecordTable } from '../../../storage/postgres/record-collection.ts';
import { Alert } from '../schema.ts';
import { splitRepeatId } from './first-alerts.ts';

const Text = Type.String();
const TextOrNull = nullable(Text);

const StoredAlert = Type.Object(
  {
    ...Alert.properties,
    ...Type.Partial(
      Type.Object({
        time: Type.String({ format: 'date-time' }),
        sender: Text,
        format: Text,
        status: Type.Enum(['firing', 'resolved']),
        acknowledges: Type.Literal(true),
        fingerprint: Text,
        startsAt: TextOrNull,
        endsAt: TextOrNull,
        labels: Type.Record(Text, Text),
        link: Text,
        details: Text,
        links: Type.Record(Text, Text),
        resolves: Text,
        firingLevel: Text,
        firingSince: Text,
        repeatOf: Text,
        expired: Type.Literal(true),
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

/** Transfers alerts in log order, with the keys of repeats. Imported alerts are not delivered. */
export const alertTransfer = defineTransfer<PortableRecord>({
  name: 'alerts',
  lines: { alerts: StoredAlert },
  table: createRecordTable('alert', {
    timeOf: readTime,
    levelOf: ({ level }) => level,
    hasEvents: true,
    keys: {
      // A reminder is not a first alert.
      read: ({ key, bodyHash, repeatOf }) => {
        if (typeof key !== 'string' || repeatOf !== undefined) return undefined;
        const { hash, state } = splitRepeatId(key);
        return { hash, state: typeof bodyHash === 'string' ? bodyHash : state };
      },
      // All other keys are in their records, so this one is an Idempotency-Key.
      add: (record, { hash, state }) => (record['repeatOf'] ? record : { ...record, key: hash, bodyHash: state }),
    },
  }),
  toLine: ({ id, record: { imported: _, ...record } }) =>
    isFeatureEvent(record) ? undefined : ['alerts', { ...record, id }],
  createParser: () => {
    const seen = new SeenIds();
    return (_key, value) => {
      const { id, ...record } = value as Static<typeof StoredAlert>;
      if (!seen.add(id)) throw new SettingsError(['alerts.id was already used in an earlier line']);
      return { id, record: { ...record, imported: true } };
    };
  },
});
