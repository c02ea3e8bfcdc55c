import { ExpectedError } from '../../lib/expected-errors.ts';
import { isFeatureEvent, type LogRecord, type StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import type { Action, ActionOn } from './action.ts';
import { createMeasured, type Measured } from './draft.ts';
import { Fold } from './fold.ts';
import { toFoldedAlert } from './folded-alert.ts';
import type { StoredIncident } from './incident.ts';
import { Incidents } from './incidents.ts';
import type { Rules } from './rules.ts';
import type { SnapshotEntry } from './snapshot-entries.ts';

/** Value of `feature` in incident events in the alert log. */
const feature = 'incidents';

/** Incident event in the alert log: an action, changed settings, or only the passage of time. */
export interface IncidentsEvent {
  /** Unix milliseconds. */
  at: number;
  action?: ActionOn | undefined;
  /** Versions of the incident that the action may change. Undefined for any version. */
  expected?: readonly number[] | undefined;
  /** Settings that apply from the next event onwards. */
  rules?: Rules | undefined;
}

/** Converts an event to a log record. Includes the number of the latest incident, in case the snapshot is lost. */
export const toRecord = (event: IncidentsEvent, lastNumber: number): LogRecord => ({ feature, lastNumber, ...event });

/** Returns the number of the latest incident from a record. 0 for a record that is not an incident event. */
export const lastNumberIn = (record: LogRecord): number =>
  record['feature'] === feature ? (record as unknown as { lastNumber: number }).lastNumber : 0;

/** Outcome of an action. */
interface ActionOutcome {
  /** Incident after the action. Undefined if it does not exist. */
  incident?: StoredIncident | undefined;
  /** Reason why the action has no effect. */
  refusal?: Error | undefined;
}

/** Outcome of a log record. */
export interface IncidentsOutcome extends ActionOutcome {
  seq: number;
  changed: readonly StoredIncident[];
  /** Measurements. Undefined for events of other instances, because each instance measures its own events. */
  measured: Measured | undefined;
}

/** Incidents as a projection of alerts and incident events. */
export class ProjectedIncidents implements ProjectionState<IncidentsOutcome> {
  readonly all: Incidents;
  readonly #isOwn: (record: StoredRecord) => boolean;

  /**
   * Creates the projection. `rules` apply until a snapshot or event supplies others. `isOwn` returns true for records
   * of this instance.
   */
  constructor(rules: Rules, isOwn: (record: StoredRecord) => boolean = () => true) {
    this.all = new Incidents(rules);
    this.#isOwn = isOwn;
  }

  fold(record: StoredRecord): IncidentsOutcome {
    const { seq } = record;
    if (!isFeatureEvent(record)) return this.#foldAlerts([record]);
    if (record['feature'] !== feature) return { seq, changed: [], measured: undefined };
    this.all.noteLastNumber(lastNumberIn(record));
    const outcome = this.apply(record as unknown as IncidentsEvent);
    return { ...outcome, seq, measured: this.#isOwn(record) ? outcome.measured : undefined };
  }

  /** Folds consecutive alerts in one step. The last alert gets the outcome of the whole step. */
  foldTogether(records: readonly StoredRecord[]): IncidentsOutcome[] {
    const outcomes: IncidentsOutcome[] = [];
    let alerts: StoredRecord[] = [];
    for (const [index, record] of records.entries()) {
      if (isFeatureEvent(record)) {
        outcomes.push(this.fold(record));
        continue;
      }
      alerts.push(record);
      const next = records[index + 1];
      if (next && !isFeatureEvent(next)) {
        outcomes.push({ seq: record.seq, changed: [], measured: undefined });
      } else {
        outcomes.push(this.#foldAlerts(alerts));
        alerts = [];
      }
    }
    return outcomes;
  }

  /** Applies an event. */
  apply({ at, action, expected, rules }: IncidentsEvent): Omit<IncidentsOutcome, 'seq'> {
    let done: ActionOutcome = {};
    const taken = this.#step(at, (step) => {
      step.advance(at);
      if (action) done = act(step, { ...action, at } as Action, expected);
    });
    if (rules) this.all.rules = rules;
    this.all.forgetOld(at);
    return { ...taken, ...done };
  }

  /** Returns the outcome that an event would have now, and the number of incidents that it would change. */
  foresee({ at, action, expected }: IncidentsEvent): ActionOutcome & { count: number } {
    const step = new Fold(this.all, this.all.rules, at);
    step.advance(at);
    const done = action ? act(step, { ...action, at } as Action, expected) : {};
    return { ...done, count: step.changed.size };
  }

  save(): Iterable<readonly SnapshotEntry[]> {
    return this.all.entries();
  }

  restore(entry: unknown): void {
    this.all.restore(entry as SnapshotEntry);
  }

  #foldAlerts(records: readonly StoredRecord[]): IncidentsOutcome {
    const alerts = records.map(toFoldedAlert);
    const until = Math.max(...alerts.map(({ at }) => at));
    const measured = createMeasured();
    const others = createMeasured();
    const { changed } = this.#step(until, (step) => {
      for (const alert of alerts) {
        step.measured = this.#isOwn(alert.record) ? measured : others;
        step.addAlert(alert);
      }
    });
    return { seq: records.at(-1)?.seq ?? 0, changed, measured };
  }

  #step(until: number, run: (step: Fold) => void): Pick<IncidentsOutcome, 'changed' | 'measured'> {
    const step = new Fold(this.all, this.all.rules, until);
    run(step);
    this.all.take(step);
    return { changed: [...step.changed.values()], measured: step.measured };
  }
}

const act = (step: Fold, action: Action, expected: readonly number[] | undefined): ActionOutcome => {
  try {
    return { incident: step.act(action, expected) };
  } catch (error) {
    if (error instanceof ExpectedError) return { refusal: error };
    throw error;
  }
};
