import type { FastifyBaseLogger } from 'fastify';
import Type, { type Static } from 'typebox';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { MiB } from '../../lib/units.ts';
import { codeOf } from '../../storage/journal/errors.ts';
import { isFeatureEvent, type StoredRecord } from '../../storage/journal/line.ts';
import { Projection } from '../../storage/projection.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import { rememberedCount } from '../../storage/recent-keys.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import { FiringAlerts, type FiringState } from './firing.ts';
import { FirstAlert, RepeatKeys } from './intake/repeat-keys.ts';

/** Milliseconds for which alerts are collected where no request waits for them, so that many are folded together. */
const gatherMs = 10;

/** Characters of about 100,000 alerts. */
const minGrowth = 32 * MiB;

const FirstEntry = Type.Object({ first: Type.String(), is: FirstAlert });
const isFirstEntry = createSchemaCheck(FirstEntry) as (entry: unknown) => entry is Static<typeof FirstEntry>;

/** Alerts that the next ones are compared with: a projection of the alert log in files. */
export class KnownAlerts implements ProjectionState<undefined> {
  readonly firing: FiringAlerts;
  readonly #clock: () => Date;
  repeats: RepeatKeys;

  constructor(clock: () => Date) {
    this.#clock = clock;
    this.firing = new FiringAlerts(clock);
    this.repeats = new RepeatKeys(clock);
  }

  fold(record: StoredRecord): undefined {
    if (isFeatureEvent(record)) return;
    this.repeats.fold(record);
    this.firing.fold(record);
  }

  /** Forgets keys of alerts that the log does not have: their repeats would get ids that are stored nowhere. */
  async readRepeats(log: RecordLog): Promise<void> {
    this.repeats = new RepeatKeys(this.#clock);
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

/** Which alerts fire, of what is known of all. */
export const toFiringState = (known: Pick<Projection<KnownAlerts>, 'state'>): FiringState => ({
  get state() {
    return known.state.firing;
  },
});

interface KnownAlertsParts {
  /** The alert log, with events of features. */
  events: RecordLog;
  snapshot: ProjectionSnapshot;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/** Opens the projection, which reads the log in the background. */
export const openKnownAlerts = async (parts: KnownAlertsParts): Promise<Projection<KnownAlerts>> => {
  const { events, snapshot, clock, log } = parts;
  const report = (err: unknown): void => {
    if (codeOf(err) === 'closed') return;
    log.warn({ err }, 'alert log: its end cannot be read, so alerts that come again may be stored again');
  };
  const projection = await Projection.open<KnownAlerts>({
    log: events,
    snapshot,
    createState: () => new KnownAlerts(clock),
    begin: () =>
      findTail(events).catch((err) => {
        report(err);
        return events.state().lastSeq ?? 0;
      }),
    savesForRetention: true,
    onReplaced: (known) => {
      log.warn('alerts: the log was replaced; those that fired before it fire on');
      return known.readRepeats(events).catch(report);
    },
    isRestoredLater: true,
    gatherMs,
    minGrowth,
    onDamage: (damage) => log.error({ damage }, 'alerts: the snapshot is damaged'),
    onUnsaved: (err) => log.warn({ err }, 'alerts: the snapshot cannot be written, so the log is kept'),
  });
  projection.catchUp().catch(report);
  return projection;
};

/** The seq after which the last records of the log come: 100,000, or fewer if those take up more of the log than one list may read. */
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
