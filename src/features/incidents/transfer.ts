import Type, { type Static, type TProperties } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer, RecordId } from '../../kit/feature.ts';
import { nullable } from '../../kit/shape.ts';
import { SeenIds } from '../../storage/portable-store.ts';
import { createEventProjectionTable } from '../../storage/postgres/projection-transfer.ts';
import { type AlertSpans, maxSpans, moveSpans } from './alert-spans.ts';
import { mostEvents, StoredEvent, StoredIncident } from './incident.ts';
import { ProjectedIncidents } from './projected-incidents.ts';
import { firstRules } from './settings.ts';
import type { SnapshotEntry } from './snapshot-entries.ts';

const Count = Type.Integer({ minimum: 0, maximum: 1e15 });

const { properties } = StoredIncident;

const ExportedIncident = Type.Object(
  {
    ...properties,
    id: RecordId,
    number: Count,
    change: Count,
    lastAlert: RecordId,
    firingAlert: Type.Optional(RecordId),
    previous: nullable(RecordId, 'A UUID in lower case, or null'),
    /** Positions of the alerts among the lines with alerts, counted from 1. */
    spans: Type.Array(Type.Tuple([Count, Count]), { minItems: 1, maxItems: maxSpans }),
    timeline: Type.Array(StoredEvent, { maxItems: mostEvents }),
  },
  { additionalProperties: false },
);

/** Number and change of the latest incident, even if it has been forgotten. */
const LastIncident = Type.Object({ number: Count, change: Count }, { additionalProperties: false });

/** Rules that let the passage of time change no incident. Used until the server appends its own rules. */
const timeless = { quietMs: 0, retainMs: 0 };

/** Exports and imports incidents in the order of their changes. Alerts come before incidents. */
export const incidentTransfer = defineTransfer<SnapshotEntry>({
  name: 'alerts.incidents',
  lines: { lastIncident: LastIncident, incidents: ExportedIncident },
  projection: {
    follows: 'alerts',
    former: { file: 'incidents', table: 'incident' },
    createState: () => new ProjectedIncidents(firstRules),
  },
  table: createEventProjectionTable<SnapshotEntry>('alert', (entry, by) => {
    if (!('incident' in entry)) return entry;
    const move = (place: number): number => place + by;
    return { ...entry, incident: { ...entry.incident, spans: moveSpans(entry.incident.spans, move, move) } };
  }),
  toLine: (entry, _before, places) => {
    if ('counters' in entry) {
      const { lastNumber, lastChange } = entry.counters;
      return lastNumber > 0 ? ['lastIncident', { number: lastNumber, change: lastChange }] : undefined;
    }
    const { incident, events } = entry;
    const spans = moveSpans(
      incident.spans,
      (seq) => places.from(seq),
      (seq) => places.until(seq),
    );
    return ['incidents', { ...pickKnown(incident, properties), spans, timeline: events }];
  },
  createParser: () => {
    const seen = new SeenIds();
    const numbers = new Set<number>();
    let last: Static<typeof LastIncident> | undefined;
    let change = 0;
    return (key, value, { alerts: alertCount = 0 }) => {
      if (key === 'lastIncident') {
        if (last) throw new SettingsError(['lastIncident occurs twice']);
        last = value as Static<typeof LastIncident>;
        const counters = { lastNumber: last.number, lastChange: last.change, active: 0, oldUntil: 0 };
        return { counters, rules: timeless } as SnapshotEntry;
      }
      // Without the last number, numbers of forgotten incidents would be assigned again.
      if (!last) throw new SettingsError(['incidents.number must follow a line with lastIncident, which is missing']);
      const { timeline, ...incident } = value as Static<typeof ExportedIncident>;
      assertConsistent(incident, alertCount);
      if (incident.number > last.number || numbers.has(incident.number)) {
        throw new SettingsError(['incidents.number must be unique, and at most lastIncident.number']);
      }
      if (incident.change > last.change || incident.change <= change) {
        throw new SettingsError([
          'incidents.change must be higher than those of all preceding incidents, and at most lastIncident.change',
        ]);
      }
      if (!seen.add(incident.id)) throw new SettingsError(['incidents.id was already used in an earlier line']);
      numbers.add(incident.number);
      change = incident.change;
      return { incident, events: timeline };
    };
  },
});

const pickKnown = (incident: StoredIncident, known: TProperties): object =>
  Object.fromEntries(Object.entries(incident).filter(([name]) => Object.hasOwn(known, name)));

/** Throws a SettingsError if members contradict each other or name alerts that are missing from the export. */
const assertConsistent = (
  {
    state,
    acknowledged,
    resolved,
    spans,
  }: Pick<StoredIncident, 'state' | 'acknowledged' | 'resolved'> & {
    spans: AlertSpans;
  },
  alertCount: number,
): void => {
  if ((state === 'resolved') !== (resolved !== null) || (state === 'acknowledged' && acknowledged === null)) {
    throw new SettingsError([`incidents.state must agree with incidents.acknowledged and incidents.resolved`]);
  }
  if (spans.some(([first, last]) => first > last || last > alertCount)) {
    throw new SettingsError(['incidents.spans must name alerts of preceding lines, in order']);
  }
};
