import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer, RecordId } from '../../kit/feature.ts';
import { Milliseconds } from '../../kit/time.ts';
import { createId } from '../../storage/journal/line.ts';
import type { PortableRecord } from '../../storage/portable-store.ts';
import { createProjectionTable } from '../../storage/postgres/projection-table.ts';
import { refuseDamage } from '../../storage/snapshot.ts';
import { maxUpdates, NewAnnouncement } from './announcement.ts';
import { type PageEvent, type PageSnapshotEntry, PagesFold } from './fold.ts';
import { isMailAddress } from './mail-address.ts';
import { pageName } from './page.ts';

const log = 'status_page';
const { title, text, state } = NewAnnouncement.properties;

const ExportedAnnouncement = Type.Object(
  {
    id: RecordId,
    page: pageName,
    incident: Type.Object({ id: Type.String({ maxLength: 100 }), number: Type.Integer({ minimum: 1 }) }),
    title,
    state,
    updates: Type.Array(Type.Object({ at: Milliseconds, state, text, by: Type.String({ maxLength: 300 }) }), {
      minItems: 1,
      maxItems: maxUpdates,
    }),
  },
  { additionalProperties: false },
);

const ExportedSubscriber = Type.Object(
  { id: RecordId, page: pageName, address: Type.String({ maxLength: 254 }), at: Milliseconds },
  { additionalProperties: false },
);

const ExportedDeparture = Type.Object(
  { left: Type.String({ pattern: '^[\\w-]{43}$' }), at: Milliseconds },
  { additionalProperties: false },
);

/** Exports each announcement, subscriber and departure as one line. Imports each line as one event. Nothing is mailed again. */
export const pagesTransfer = defineTransfer<PageSnapshotEntry | PortableRecord>({
  name: 'status-pages',
  lines: { announcements: ExportedAnnouncement, subscribers: ExportedSubscriber, departures: ExportedDeparture },
  projection: { former: { table: log }, createState: () => new PagesFold(refuseDamage) },
  table: createProjectionTable(log),
  toLine: (entry) => {
    if ('updates' in entry) {
      const updates = entry.updates.map(({ number: _, ...update }) => update);
      return ['announcements', { ...entry, updates }];
    }
    if ('left' in entry) return ['departures', entry];
    if (!('address' in entry)) return undefined;
    const { through: _, ...subscriber } = entry;
    return ['subscribers', subscriber];
  },
  createParser: () => {
    const ids = new Set<string>();
    const at = Date.now();
    return (key, value) => {
      const given = value as
        | Static<typeof ExportedAnnouncement>
        | Static<typeof ExportedSubscriber>
        | Static<typeof ExportedDeparture>;
      if ('left' in given) return toImported({ type: 'departed', ...given });
      if (ids.has(given.id)) throw new SettingsError([`${key}.id was already used in an earlier line`]);
      ids.add(given.id);
      if ('address' in given && !isMailAddress(given.address)) {
        throw new SettingsError([`${key}.address must be an address such as anna@example.org`]);
      }
      return toImported(
        'address' in given
          ? { type: 'subscribed', subscriber: given, at }
          : { type: 'imported', announcement: given, at },
      );
    };
  },
});

const toImported = (event: PageEvent): PortableRecord => ({ id: createId(), record: { ...event } });
