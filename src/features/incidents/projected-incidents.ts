import { ExpectedError } from '../../lib/expected-errors.ts';
import { isFeatureEvent, type LogRecord, type StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import type { Action, ActionOn } from './action.ts';
import { createMeasured, Fold, type Measured } from './fold.ts';
import { type StoredIncident, toFoldedAlert } from './incident.ts';
import { Incidents, type StateEntry } from './incident-state.ts';
import type { Rules } from './rules.ts';

/** The `feature` of the events in the log of alerts. */
const feature = 'incidents';

/** What is done to incidents, or that time passes, in Unix milliseconds. */
export interface IncidentsEvent {
  at: number;
  action?: ActionOn | undefined;
  /** The versions of the incident for which the action counts; undefined for any. */
  expected?: readonly number[] | undefined;
  /** Set where the settings have changed: they count from the next event on. */
  rules?: Rules | undefined;
}

/** The event as a record of the log of alerts. `lastNumber` is that of the last incident: numbers go on after it if the snapshot is lost. */
export const toRecord = (event: IncidentsEvent, lastNumber: number): LogRecord => ({ feature, lastNumber, ...event });

/** The number of the last incident by a record; 0 if it is no event of incidents. */
export const lastNumberIn = (record: LogRecord): number =>
  record['feature'] === feature ? (record as unknown as { lastNumber: number }).lastNumber : 0;

/** What came of a record of the log. */
export interface IncidentsOutcome {
  seq: number;
  changed: readonly StoredIncident[];
  /** Of events of this instance, so that instances that share a log count each once. */
  measured: Measured | undefined;
  /** Of an action: the incident as it is then, if there is one. */
  incident?: StoredIncident | undefined;
  /** Why the action counts for nothing. */
  refusal?: Error | undefined;
}

/** All incidents: the projection of alerts, and of what people, time and notifications do to incidents. */
export class ProjectedIncidents implements ProjectionState<IncidentsOutcome> {
  readonly all: Incidents;
  readonly #isOwn: (record: StoredRecord) => boolean;

  /** The settings count where neither a snapshot nor an event has others. */
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

  /** Alerts that follow each other are one step, whose outcome is that of the last one. */
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

  /** Takes over what an event changes. */
  apply({ at, action, expected, rules }: IncidentsEvent): Omit<IncidentsOutcome, 'seq'> {
    let done: Pick<IncidentsOutcome, 'incident' | 'refusal'> = {};
    const taken = this.#step(at, (step) => {
      step.advance(at);
      if (action) done = act(step, { ...action, at } as Action, expected);
    });
    if (rules) this.all.rules = rules;
    this.all.forgetOld(at);
    return { ...taken, ...done };
  }

  /** What an action would come to at a time, without taking it over; the number of incidents that it and time would change. */
  foresee({
    at,
    action,
    expected,
  }: IncidentsEvent): Pick<IncidentsOutcome, 'incident' | 'refusal'> & { count: number } {
    const step = new Fold(this.all, this.all.rules, at);
    step.advance(at);
    const done = action ? act(step, { ...action, at } as Action, expected) : {};
    return { ...done, count: step.changed.size };
  }

  save(): Iterable<readonly StateEntry[]> {
    return this.all.entries();
  }

  restore(entry: unknown): void {
    this.all.restore(entry as StateEntry);
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

const act = (
  step: Fold,
  action: Action,
  expected: readonly number[] | undefined,
): Pick<IncidentsOutcome, 'incident' | 'refusal'> => {
  try {
    return { incident: step.act(action, expected) };
  } catch (error) {
    if (error instanceof ExpectedError) return { refusal: error };
    throw error;
  }
};
