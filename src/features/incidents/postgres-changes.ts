import { severities } from '../../kit/severity.ts';
import type { Collection, Decision, Gate } from '../../storage/postgres/batch.ts';
import type { Row, Statement } from '../../storage/postgres/connection.ts';
import {
  type Action,
  type ActionOn,
  type Counters,
  dueAt,
  Fold,
  heardAt,
  type IncidentsBefore,
  type Rules,
} from './fold.ts';
import { completeIncident, type FoldedAlert, mostEvents, overflowKey, type StoredIncident } from './incident.ts';
import { incidentStates } from './schema.ts';

/** How many incidents that are due are read at once. */
const mostDue = 1000;

/**
 * What is asked of the database: to fold alerts, which come after the one with a seq, or to pass over one, to do what a person
 * wants, or only to let time pass.
 */
export type IncidentChange =
  | { alerts: readonly FoldedAlert[]; after: number }
  | { passed: Pick<FoldedAlert, 'seq' | 'at'> }
  | { action: ActionOn; expected: readonly number[] | undefined }
  | { time: true };

/** What came of a change. */
export interface IncidentResult {
  /** Of an action: the incident as it is then, if there is one. */
  incident: StoredIncident | undefined;
  /** The last alert that is folded. */
  position: number;
  /** Whether time has to pass once more before alerts can be folded. */
  isCut: boolean;
  /** The step that the change was part of. */
  step: Fold;
}

/** Folds alerts and actions while the gate is locked, whose last id is the seq of the last alert that was folded. */
export const createIncidentCollection = (
  clock: () => Date,
  readRules: () => Rules,
): Collection<IncidentChange, IncidentResult> => {
  /** The same time for what is read and for what is decided by it. */
  let now = 0;
  let until = 0;
  let rules = readRules();
  return {
    name: 'incident',
    read: (changes) => {
      now = clock().getTime();
      rules = readRules();
      const alerts = changes.flatMap((change) => ('alerts' in change ? change.alerts : []));
      const passed = changes.flatMap((change) => ('passed' in change ? change.passed : []));
      until = Math.max(now, ...[...alerts, ...passed].map(({ at }) => at));
      const ids = changes.flatMap((change) => ('action' in change ? change.action.id : []));
      return [selectIncidents([...new Set(alerts.map(({ key }) => key)), overflowKey], ids), selectDue(until, rules)];
    },
    decide: (changes, [found = [], due = []], gate) => {
      const before = new FoundIncidents(found, due, gate, rules);
      const isCut = due.length === mostDue;
      const step = new Fold(before, rules, isCut ? before.lastDue : until);
      const decisions = changes.map((change): Decision<IncidentResult> => {
        try {
          const incident = decide(step, change, { now, gate, isCut });
          return { result: { incident, position: gate.lastId, isCut, step } };
        } catch (error) {
          return { refusal: error as Error };
        }
      });
      gate.at = Math.max(gate.at, now);
      gate.counts = toCounts(step.counters);
      return { decisions, statements: toStatements(step) };
    },
  };
};

const decide = (
  step: Fold,
  change: IncidentChange,
  { now, gate, isCut }: { now: number; gate: Gate; isCut: boolean },
): StoredIncident | undefined => {
  // Incidents that are due are read in the order of their times: after some of them, others may come before what follows.
  if (isCut) step.advance(Number.POSITIVE_INFINITY);
  if ('alerts' in change) {
    if (isCut || change.after > gate.lastId) return undefined;
    for (const alert of change.alerts) {
      // Another instance may have folded the first ones.
      if (alert.seq <= gate.lastId) continue;
      step.addAlert(alert);
      gate.lastId = alert.seq;
    }
    return undefined;
  }
  if ('passed' in change) {
    if (isCut) return undefined;
    // As with the alert: where this is refused, too, the alert is not the cause.
    step.advance(change.passed.at);
    gate.lastId = Math.max(gate.lastId, change.passed.seq);
    return undefined;
  }
  if (!isCut) step.advance(now);
  return 'action' in change ? step.act({ ...change.action, at: now } as Action, change.expected) : undefined;
};

const toCounts = ({ lastNumber, lastChange, active, oldUntil }: Counters): number[] => [
  ...[lastNumber, lastChange, active, oldUntil],
];

/** The incidents that the database has found for a step. */
class FoundIncidents implements IncidentsBefore {
  readonly counters: Counters;
  readonly #byId = new Map<string, StoredIncident>();
  readonly #latest = new Map<string, StoredIncident>();
  readonly #due: readonly StoredIncident[];
  readonly #rules: Rules;

  constructor(found: readonly Row[], due: readonly Row[], { counts }: Gate, rules: Rules) {
    const [lastNumber = 0, lastChange = 0, active = 0, oldUntil = 0] = counts;
    this.counters = { lastNumber, lastChange, active, oldUntil };
    this.#rules = rules;
    this.#due = due.map(toStoredIncident);
    for (const incident of [...found.map(toStoredIncident), ...this.#due]) {
      this.#byId.set(incident.id, incident);
      const latest = this.#latest.get(incident.key);
      if (!latest || latest.number < incident.number) this.#latest.set(incident.key, incident);
    }
  }

  /** The time of the last of those that are due. */
  get lastDue(): number {
    return Math.max(...this.#due.map((incident) => dueAt(incident, this.#rules)));
  }

  find(id: string): StoredIncident | undefined {
    return this.#byId.get(id);
  }

  findLatest(key: string): StoredIncident | undefined {
    return this.#latest.get(key);
  }

  listDue(until: number): StoredIncident[] {
    const order = (incident: StoredIncident) => dueAt(incident, this.#rules);
    return this.#due
      .filter((incident) => order(incident) <= until)
      .sort((a, b) => order(a) - order(b) || a.number - b.number);
  }
}

export const toStoredIncident = ({ body }: Row): StoredIncident => completeIncident(JSON.parse(body));

/** The incidents with these ids, and the last one with each of these keys, and of the keys of those. */
const selectIncidents = (keys: readonly string[], ids: readonly string[]): Statement => ({
  isPrepared: true,
  text: `SELECT body FROM signalbox.incident WHERE id = ANY($2::uuid[])
    UNION ALL SELECT latest.body FROM (
      SELECT unnest($1::text[]) AS key UNION SELECT key FROM signalbox.incident WHERE id = ANY($2::uuid[])
    ) AS wanted CROSS JOIN LATERAL (
      SELECT body FROM signalbox.incident WHERE key = wanted.key ORDER BY number DESC LIMIT 1
    ) AS latest`,
  values: [keys, ids],
});

/** In milliseconds: no incident has been quiet for so long. */
const endless = 2 ** 50;

/** The first of those that time changes up to `until`. */
const selectDue = (until: number, { quietMs }: Rules): Statement => ({
  isPrepared: true,
  text: `SELECT body FROM signalbox.incident
    WHERE until_at <= $1 OR heard_at <= $1::bigint - $2::bigint
    ORDER BY least(until_at, heard_at + $2::bigint), number LIMIT ${mostDue}`,
  values: [until, quietMs || endless],
});

/** Whether time changes any up to `until`. */
export const selectIsDue = (until: number, { quietMs }: Rules): Statement => ({
  isPrepared: true,
  text: `SELECT last_id AS position, counts, EXISTS (SELECT FROM signalbox.incident WHERE until_at <= $1)
      OR EXISTS (SELECT FROM signalbox.incident WHERE heard_at <= $1::bigint - $2::bigint) AS "isDue"
    FROM signalbox.gate WHERE name = 'incident'`,
  values: [until, quietMs || endless],
});

/** What columns do not take: U+0000 and lone surrogates. */
const unstorable = /[\0\p{Cs}]/gu;

/** A text as columns have it that are compared with what clients look for. */
export const toColumnText = (text: string): string => text.toLowerCase().replace(unstorable, '\ufffd');

export const toStateNumber = (state: StoredIncident['state']): number => incidentStates.indexOf(state) + 1;
export const toLevelNumber = (level: StoredIncident['level']): number => severities.indexOf(level) + 1;

/** The columns of an incident, with their types. */
const columns: readonly (readonly [name: string, type: string, read: (incident: StoredIncident) => unknown])[] = [
  ['id', 'uuid', ({ id }) => id],
  ['number', 'bigint', ({ number }) => number],
  ['key', 'text', ({ key }) => key],
  ['state', 'smallint', ({ state }) => toStateNumber(state)],
  ['level', 'smallint', ({ level }) => toLevelNumber(level)],
  ['change', 'bigint', ({ change }) => change],
  ['first_seq', 'bigint', ({ spans }) => spans[0]?.[0] ?? 0],
  ['last_seq', 'bigint', ({ spans }) => Math.max(...spans.map(([, last]) => last))],
  ['first_at', 'bigint', ({ firstAt }) => firstAt],
  ['last_at', 'bigint', ({ lastAt }) => lastAt],
  ['heard_at', 'bigint', (one) => (one.state === 'resolved' || one.endsBySender ? null : heardAt(one))],
  [
    'until_at',
    'bigint',
    ({ state, acknowledged }) => (state === 'acknowledged' ? (acknowledged?.until ?? null) : null),
  ],
  ['resolved_at', 'bigint', ({ resolved }) => resolved?.at ?? null],
  ['source', 'text', ({ source }) => toColumnText(source)],
  ['hostname', 'text', ({ hostname }) => toColumnText(hostname)],
  ['title', 'text', ({ title }) => toColumnText(title)],
  ['has_notices', 'boolean', ({ notices }) => Object.keys(notices).length > 0],
  ['body', 'text', (incident) => JSON.stringify(incident)],
];

const upsert = `INSERT INTO signalbox.incident (${columns.map(([name]) => name).join(', ')})
  SELECT * FROM unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')})
  ON CONFLICT (id) DO UPDATE SET ${columns
    .slice(1)
    .map(([name]) => `${name} = excluded.${name}`)
    .join(', ')}`;

/** Stores a step. The gate is stored with the first statement. */
const toStatements = ({ changed, events }: Fold): Statement[] => {
  const incidents = [...changed.values()];
  if (incidents.length === 0) return [{ text: 'SELECT' }];
  const long = incidents.filter(({ lastEvent }) => lastEvent > mostEvents);
  return [
    { isPrepared: true, text: upsert, values: columns.map(([, , read]) => incidents.map(read)) },
    {
      isPrepared: true,
      text: `INSERT INTO signalbox.incident_event (incident, number, destination, change, body)
        SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[], $4::bigint[], $5::text[])`,
      values: [
        events.map(({ id }) => id),
        events.map(({ number }) => number),
        events.map(({ event }) => event.destination ?? null),
        events.map(({ event }) => event.change ?? null),
        events.map(({ event }) => JSON.stringify(event)),
      ],
    },
    ...(long.length === 0
      ? []
      : [
          {
            isPrepared: true,
            text: `DELETE FROM signalbox.incident_event AS event USING unnest($1::uuid[], $2::int[]) AS long (id, last)
              WHERE event.incident = long.id AND event.number <= long.last`,
            values: [long.map(({ id }) => id), long.map(({ lastEvent }) => lastEvent - mostEvents)],
          },
        ]),
  ];
};
