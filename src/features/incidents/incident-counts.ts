import { type IncidentState, incidentStates } from '../../kit/incident.ts';
import { type Severity, severities } from '../../kit/severity.ts';

/** Number of incidents with a given state and level. */
export interface IncidentCount {
  state: IncidentState;
  level: Severity;
  count: number;
}

/** Counts incidents by state and level. */
export class IncidentCounts {
  readonly #counts: IncidentCount[] = incidentStates.flatMap((state) =>
    severities.map((level) => ({ state, level, count: 0 })),
  );
  readonly #byName = new Map(this.#counts.map((count) => [toName(count), count]));

  add(incident: Pick<IncidentCount, 'state' | 'level'>, change: 1 | -1): void {
    const entry = this.#byName.get(toName(incident));
    if (entry) entry.count += change;
  }

  list(): IncidentCount[] {
    return this.#counts.map((entry) => ({ ...entry }));
  }

  /** Returns the number of incidents in the given states. */
  sum(states: readonly IncidentState[]): number {
    return this.#counts.reduce((sum, { state, count }) => sum + (states.includes(state) ? count : 0), 0);
  }
}

const toName = ({ state, level }: Pick<IncidentCount, 'state' | 'level'>): string => `${state} ${level}`;
