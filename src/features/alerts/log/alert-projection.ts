import type { FastifyBaseLogger } from 'fastify';
import Type, { type Static } from 'typebox';
import { createSchemaCheck } from '../../../lib/schema-validation.ts';
import { MiB } from '../../../lib/units.ts';
import { codeOf } from '../../../storage/journal/errors.ts';
import { isFeatureEvent, type StoredRecord } from '../../../storage/journal/line.ts';
import { Projection } from '../../../storage/projection.ts';
import type { ProjectionState } from '../../../storage/projection-state.ts';
import { rememberedCount } from '../../../storage/recent-entries.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { ProjectionSnapshot } from '../../../storage/snapshot.ts';
import { FiringAlerts, type FiringState } from '../firing/firing-alerts.ts';
import { FirstAlert, FirstAlerts } from './first-alerts.ts';

/** Milliseconds for which alerts are collected before they are folded together. A waiting request cuts this short. */
const gatherMs = 10;

/** Minimum growth of the log between snapshots, in characters. Corresponds to about 100,000 alerts. */
const minGrowth = 32 * MiB;

const FirstEntry = Type.Object({ first: Type.String(), is: FirstAlert });
const isFirstEntry = createSchemaCheck(FirstEntry) as (entry: unknown) => entry is Static<typeof FirstEntry>;

/** Projection of the alert log in files: firing alerts, and keys that identify repeats of earlier alerts. */
export class AlertProjection implements ProjectionState<undefined> {
  readonly firing: FiringAlerts;
  readonly #clock: () => Date;
  repeats: FirstAlerts;

  constructor(clock: () => Date) {
    this.#clock = clock;
    this.firing = new FiringAlerts(clock);
    this.repeats = new FirstAlerts(clock);
  }

  fold(record: StoredRecord): undefined {
    if (isFeatureEvent(record)) return;
    this.repeats.fold(record);
    this.firing.fold(record);
  }

  /**
   * Reads the keys from the log again. The log may have lost an alert, whose key would then give repeats an id that is
   * stored nowhere.
   */
  async readRepeats(log: RecordLog): Promise<void> {
    this.repeats = new FirstAlerts(this.#clock);
    for await (const records of log.readAfter(await findTail(log))) {
      for (const record of records) if (!isFeatureEvent(record)) this.repeats.fold(record);
    }
  }

  save(): Iterable<readonly unknown[]> {
    return [...this.firing.save(), Array.from(this.repeats.entries(), ([first, is]) => ({ first, is }))];
  }

  restore(entry: unknown): void {
    if (isFirstEntry(entry)) this.repeats.remember(entry.first, entry.is);
    else this.firing.restore(entry);
  }
}

export const toFiringState = (projection: Pick<Projection<AlertProjection>, 'state'>): FiringState => ({
  get state() {
    return projection.state.firing;
  },
});

interface AlertProjectionParts {
  /** Alert log including feature events. */
  events: RecordLog;
  snapshot: ProjectionSnapshot;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/** Opens the projection. It reads the log in the background. */
export const openAlertProjection = async (parts: AlertProjectionParts): Promise<Projection<AlertProjection>> => {
  const { events, snapshot, clock, log } = parts;
  const report = (err: unknown): void => {
    if (codeOf(err) === 'closed') return;
    log.warn({ err }, 'alert log: the end of the log cannot be read, so repeats of earlier alerts may be stored again');
  };
  const projection = await Projection.open<AlertProjection>({
    log: events,
    snapshot,
    createState: () => new AlertProjection(clock),
    begin: () =>
      findTail(events).catch((err) => {
        report(err);
        return events.state().lastSeq ?? 0;
      }),
    savesForRetention: true,
    onReplaced: (state) => {
      log.warn('alerts: the alert log was replaced; firing alerts of the old log stay firing');
      return state.readRepeats(events).catch(report);
    },
    isRestoredLater: true,
    gatherMs,
    minGrowth,
    onDamage: (damage) => log.error({ damage }, 'alerts: the snapshot is damaged'),
    onUnsaved: (err) => log.warn({ err }, 'alerts: the snapshot cannot be written; the log is kept'),
  });
  projection.catchUp().catch(report);
  return projection;
};

/**
 * Returns the seq before the last 100,000 records, or a later seq if a single list cannot read that much of the log.
 */
const findTail = async (log: RecordLog, count = rememberedCount): Promise<number> => {
  try {
    const listing = await log.listLast(count);
    try {
      for await (const { seq } of listing.records()) if (typeof seq === 'number') return seq - 1;
    } finally {
      await listing.close();
    }
    return log.state().lastSeq ?? 0;
  } catch (error) {
    if (codeOf(error) !== 'window-too-large') throw error;
    return findTail(log, Math.floor(count / 4));
  }
};
