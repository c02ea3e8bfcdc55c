import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer } from '../../kit/feature.ts';
import { nullable } from '../../kit/shape.ts';
import { createId } from '../../storage/journal/line.ts';
import type { PortableRecord } from '../../storage/portable-store.ts';
import { createProjectionTable } from '../../storage/postgres/projection-table.ts';
import { AvailabilityFold, type AvailabilitySnapshotEntry } from './fold.ts';
import { isConsistent, mostDayRows, type TimelineSnapshot, withoutFuture } from './timeline.ts';

const log = 'availability';

const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Wholes = (maxItems: number) => Type.Array(Whole, { maxItems });

/** History of a check in an export. Times are Unix seconds, except `createdAt` and `deletedAt`. */
const ExportedHistory = Type.Object(
  {
    check: Type.String({ pattern: '^(?:watch|heartbeat|host):.{1,200}$', description: 'A kind and a name' }),
    createdAt: Whole,
    deletedAt: nullable(Whole),
    changes: Wholes(10_000),
    merged: Type.Array(Type.Array(Whole, { minItems: 6, maxItems: 7 }), { maxItems: 1000 }),
    facts: Type.Array(Type.Tuple([Whole, nullable(Type.String({ maxLength: 1000 })), nullable(Whole)]), {
      maxItems: 1000,
    }),
    firstDay: Whole,
    rows: Wholes(mostDayRows),
  },
  { additionalProperties: false },
);

/**
 * Histories prepared for an export. Each check is unknown from its last sign of life onwards, because nothing observes
 * an export.
 */
class EndedFold extends AvailabilityFold {
  override save(): (readonly AvailabilitySnapshotEntry[])[] {
    for (const [place, at] of this.listAlive()) for (const history of this.list()) history.lose(place, at);
    const end = Math.max(0, ...this.listAlive().values());
    for (const history of this.list()) if (history.isMaintained) history.setMaintenance(false, end);
    return super.save();
  }
}

/** Exports each check's history as a line. Imports each line as an event. */
export const availabilityTransfer = defineTransfer<AvailabilitySnapshotEntry | PortableRecord>({
  name: log,
  lines: { availability: ExportedHistory },
  // Every start records the checks of the config file, so this log is never empty.
  isJoined: true,
  projection: { former: { table: log }, createState: () => new EndedFold() },
  table: createProjectionTable(log),
  toLine: (entry) => {
    if (!('changes' in entry)) return undefined;
    const { places: _, isMaintained: __, ...history } = entry;
    return ['availability', history];
  },
  createParser: () => {
    const checks = new Set<string>();
    const at = Date.now();
    return (_key, value) => {
      const history = value as Static<typeof ExportedHistory>;
      if (checks.has(history.check))
        throw new SettingsError(['availability.check was already used in an earlier line']);
      if (!isConsistent(history)) throw new SettingsError(['availability.changes must be in order, with known states']);
      checks.add(history.check);
      // The clock of the exporting server may have been ahead. An export ends a second after its last change.
      const past = withoutFuture(history as unknown as TimelineSnapshot, Math.floor(at / 1000) + 1);
      const saved = { ...history, ...past, places: [], isMaintained: false };
      return { id: createId(), record: { type: 'imported', at, history: saved } };
    };
  },
});
