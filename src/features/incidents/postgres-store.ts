import type { FastifyBaseLogger } from 'fastify';
import type { SentFilter, SentNotification } from '../../kit/offers.ts';
import { type Severity, severities } from '../../kit/severity.ts';
import { StoreUnavailable, ValueRefusal } from '../../lib/expected-errors.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { Collection } from '../../storage/postgres/batch.ts';
import type { Row, Statement } from '../../storage/postgres/connection.ts';
import type { Database } from '../../storage/postgres/database.ts';
import type { ActionOn, Fold, Rules } from './fold.ts';
import {
  type FoldedAlert,
  type StoredEvent,
  type StoredIncident,
  toFoldedAlert,
  toIncidentKey,
  toSent,
} from './incident.ts';
import { mostResolved } from './incident-state.ts';
import {
  createIncidentCollection,
  type IncidentChange,
  type IncidentResult,
  selectIsDue,
  toColumnText,
  toLevelNumber,
  toStateNumber,
  toStoredIncident,
} from './postgres-changes.ts';
import { type IncidentState, incidentStates } from './schema.ts';
import { hasAlert } from './spans.ts';
import type {
  IncidentCount,
  IncidentFilter,
  IncidentList,
  IncidentName,
  IncidentStore,
  Observe,
  ReadAlerts,
} from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Milliseconds for which alerts are collected, and between two looks at what time and others have changed. */
const collectingMs = 20;
const lookMs = 1000;

/** Milliseconds that a request waits at most for alerts that are not folded yet. */
const patienceMs = 1000;

/** How many alerts are folded in one transaction, and how many changes of others are read at once. */
const stepCount = 500;
const mostChanges = 1000;

/** How many of the resolved incidents that are too many are deleted at once. */
const deletedCount = 1000;

interface PostgresStoreParts {
  database: Database;
  alerts: Pick<ReadAlerts, 'readAfter' | 'onStored' | 'state'>;
  rules: Rules;
  /** Days for which resolved incidents are kept; 0 keeps them. */
  retainDays: number;
  observe: Observe;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'error'>;
}

/** Incidents in tables that instances share: whichever comes first folds the alerts of all. */
export class PostgresIncidentStore implements IncidentStore {
  readonly #parts: PostgresStoreParts;
  readonly #collection: Collection<IncidentChange, IncidentResult>;
  #rules: Rules;
  /** The last alert that is folded, as far as is known. */
  #position = 0;
  /** The last change that listeners know of; undefined until the database was reached. */
  #knownChange: number | undefined;
  #storedSeq = 0;
  readonly #observed = new WeakSet<Fold>();
  readonly #listeners: ((incidents: readonly StoredIncident[]) => void)[] = [];
  #lastCounts: IncidentCount[] = [];
  #running: Promise<void> | undefined;
  /** Whether to look once more when that ends. */
  #isWanted = false;
  #collecting: NodeJS.Timeout | undefined;
  readonly #looking: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #failure: Error | undefined;
  #isClosed = false;

  constructor(parts: PostgresStoreParts) {
    const { database, alerts, clock, retainDays } = parts;
    this.#parts = parts;
    this.#rules = parts.rules;
    this.#collection = createIncidentCollection(clock, () => this.#rules);
    this.#storedSeq = alerts.state().lastSeq ?? 0;
    this.#stopListening = alerts.onStored((seq) => {
      this.#storedSeq = seq;
      this.#collecting ??= setTimeout(() => {
        this.#collecting = undefined;
        void this.#wake();
      }, collectingMs).unref();
    });
    this.#looking = setInterval(() => void this.#wake(), lookMs).unref();
    const keptMs = retainDays === 0 ? Number.POSITIVE_INFINITY : retainDays * dayMs;
    database.expire({ table: 'incident', key: 'id', at: { milliseconds: 'resolved_at' }, keptMs, clock });
    void this.#wake();
  }

  async list(filter: IncidentFilter, limit: number, before?: number): Promise<IncidentList> {
    await this.#waitForFold();
    const rows = await this.#parts.database.query(selectPage(filter, limit, before));
    const incidents = rows.filter(({ body }) => body !== null).map(toStoredIncident);
    const page = incidents.slice(0, limit);
    return {
      total: rows[0]?.total ?? 0,
      incidents: page,
      next: incidents.length > limit ? page.at(-1)?.change : undefined,
    };
  }

  async find(id: string | number): Promise<StoredIncident | undefined> {
    await this.#waitForFold();
    const column = typeof id === 'number' ? 'number' : 'id';
    const text = `SELECT body FROM signalbox.incident WHERE ${column} = $1`;
    const [row] = await this.#parts.database.query({ text, values: [id] });
    return row && toStoredIncident(row);
  }

  async listEvents(id: string): Promise<StoredEvent[]> {
    const text = 'SELECT body FROM signalbox.incident_event WHERE incident = $1 ORDER BY number';
    const rows = await this.#parts.database.query({ text, values: [id] });
    return rows.map(({ body }) => JSON.parse(body));
  }

  async *listUnsettled(): AsyncGenerator<readonly StoredIncident[]> {
    await this.#waitForFold();
    let last = '00000000-0000-0000-0000-000000000000';
    for (let count = mostChanges; count === mostChanges; ) {
      const rows = await this.#parts.database.query({
        isPrepared: true,
        text: `SELECT body FROM signalbox.incident WHERE (state < 3 OR has_notices) AND id > $1
          ORDER BY id LIMIT ${mostChanges}`,
        values: [last],
      });
      const incidents = rows.map(toStoredIncident);
      count = incidents.length;
      last = incidents.at(-1)?.id ?? last;
      yield incidents;
    }
  }

  async listSent({ destination, incident }: SentFilter, limit: number, before?: number): Promise<SentNotification[]> {
    const values: unknown[] = [];
    const where = (condition: string, value: unknown): string =>
      value === undefined ? '' : `AND ${condition} $${values.push(value)}`;
    const rows = await this.#parts.database.query({
      text: `SELECT event.body AS event, incident.body FROM signalbox.incident_event AS event
        JOIN signalbox.incident ON incident.id = event.incident WHERE event.change IS NOT NULL
        ${where('event.destination =', destination)} ${where('event.incident =', incident)}
        ${where('event.change <', before)} ORDER BY event.change DESC LIMIT ${limit}`,
      values,
    });
    return rows.flatMap((row) => toSent(toStoredIncident(row), JSON.parse(row.event)) ?? []);
  }

  async nameIncidents(alerts: readonly StoredRecord[]): Promise<(IncidentName | undefined)[]> {
    if (alerts.length === 0) return [];
    if (alerts.some(({ seq }) => seq > this.#position)) await this.#waitForFold();
    const keys = alerts.map(toIncidentKey);
    const rows = await this.#parts.database.query({
      isPrepared: true,
      text: `SELECT wanted.place, incident.body FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY
          AS wanted (key, seq, place)
        JOIN signalbox.incident ON incident.key = wanted.key AND wanted.seq BETWEEN first_seq AND last_seq`,
      values: [keys, alerts.map(({ seq }) => seq)],
    });
    const named: (IncidentName | undefined)[] = alerts.map(() => undefined);
    for (const { place, body } of rows) {
      const incident = toStoredIncident({ body });
      const alert = alerts[place - 1];
      if (alert && hasAlert(incident.spans, alert.seq)) named[place - 1] = { id: incident.id, number: incident.number };
    }
    return named;
  }

  async act(action: ActionOn, expected?: readonly number[]): Promise<StoredIncident | undefined> {
    const { incident } = await this.#write({ action, expected }).catch((error: unknown) => {
      if (error instanceof ValueRefusal)
        this.#parts.log.error({ err: error, incident: action.id }, 'incidents: the database refuses an action');
      throw error;
    });
    void this.#wake();
    return incident;
  }

  async count(): Promise<IncidentCount[]> {
    const text = 'SELECT state, level, count(*) AS count FROM signalbox.incident GROUP BY state, level';
    return toCounts(await this.#parts.database.query({ text }));
  }

  get lastCounts(): readonly IncidentCount[] {
    return this.#lastCounts;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  async isReady(): Promise<boolean> {
    return !this.#failure && this.#parts.database.isReady();
  }

  onChanged(listener: (incidents: readonly StoredIncident[]) => void): void {
    this.#listeners.push(listener);
  }

  catchUp(): Promise<void> {
    return this.#wake();
  }

  changeRules(rules: Rules): void {
    this.#rules = rules;
    void this.#wake();
  }

  reopen(): Promise<void> {
    return this.#wake();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    clearInterval(this.#looking);
    clearTimeout(this.#collecting);
    await this.#running;
  }

  /** Folds what is stored by now, and learns what others have changed. */
  #wake(): Promise<void> {
    this.#isWanted = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      try {
        await this.#look();
        this.#failure = undefined;
      } catch (error) {
        // The database itself says when it cannot be used, but not when a table is damaged.
        if (error instanceof StoreUnavailable && !(await this.#parts.database.isReady())) continue;
        if (!this.#failure && !this.#isClosed) {
          this.#parts.log.error({ err: error }, 'incidents: alerts are stored, but cannot be folded at the moment');
        }
        this.#failure = error as Error;
      }
    }
  }

  async #look(): Promise<void> {
    const { database, clock } = this.#parts;
    const [gate] = await database.query(selectIsDue(clock().getTime(), this.#rules));
    this.#position = gate.position;
    if (this.#position < this.#storedSeq) await this.#foldAlerts();
    else if (gate.isDue) await this.#write({ time: true });
    const [, lastChange = 0] = gate.counts;
    await this.#learnChanges(lastChange);
  }

  async #foldAlerts(): Promise<void> {
    const { alerts, clock } = this.#parts;
    const oldest = clock().getTime() - dayMs;
    for await (const records of alerts.readAfter(this.#position)) {
      for (let at = 0; at < records.length; at += stepCount) {
        // What was imported may be of any age, and its incidents stayed where it came from.
        const folded = records.slice(at, at + stepCount).map(toFoldedAlert);
        const last = folded.at(-1)?.seq ?? 0;
        const wanted = folded.filter(
          ({ record, at: time, seq }) => !record['imported'] || time >= oldest || seq === last,
        );
        await this.#foldStep(wanted);
        if (this.#isClosed) return;
      }
    }
  }

  /** Folds alerts; one whose incident the database refuses is found by halving, and passed over. */
  async #foldStep(alerts: readonly FoldedAlert[]): Promise<void> {
    const last = alerts.at(-1);
    if (!last) return;
    try {
      await this.#writeUpTo(last.seq, () => ({ alerts, after: this.#position }));
    } catch (error) {
      if (!(error instanceof ValueRefusal)) throw error;
      if (alerts.length > 1) {
        const half = Math.floor(alerts.length / 2);
        await this.#foldStep(alerts.slice(0, half));
        await this.#foldStep(alerts.slice(half));
        return;
      }
      await this.#writeUpTo(last.seq, () => ({ passed: last }));
      const alert = last.record.id;
      this.#parts.log.error({ err: error, alert }, 'incidents: the database refuses the incident of an alert');
    }
  }

  async #writeUpTo(seq: number, toChange: () => IncidentChange): Promise<void> {
    while (this.#position < seq && !this.#isClosed) {
      const { position, isCut } = await this.#write(toChange());
      this.#position = position;
      if (!isCut && position < seq) return;
    }
  }

  async #write(change: IncidentChange): Promise<IncidentResult> {
    const result = await this.#parts.database.writeApart(this.#collection, change);
    const { step } = result;
    if (this.#observed.has(step)) return result;
    this.#observed.add(step);
    this.#parts.observe(step.measured);
    // Of the others, all instances learn in the same way.
    const counted = [...step.changed.values()].filter(({ change: at }) => at <= step.changeBefore);
    if (counted.length > 0) for (const listener of this.#listeners) listener(counted);
    if (step.counters.lastChange > step.changeBefore) this.#isWanted = true;
    return result;
  }

  /** Tells listeners of what has changed, on whichever instance. */
  async #learnChanges(lastChange: number): Promise<void> {
    const { database } = this.#parts;
    let known = this.#knownChange ?? lastChange;
    const isNew = this.#knownChange === undefined || known < lastChange;
    while (known < lastChange) {
      const rows = await database.query({
        isPrepared: true,
        text: `SELECT body FROM signalbox.incident WHERE change > $1 ORDER BY change LIMIT ${mostChanges}`,
        values: [known],
      });
      const changed = rows.map(toStoredIncident);
      const last = changed.at(-1)?.change ?? lastChange;
      known = changed.length < mostChanges ? Math.max(lastChange, last) : last;
      // Before listeners hear of it: they may ask for them.
      this.#lastCounts = await this.count();
      if (changed.length > 0) for (const listener of this.#listeners) listener(changed);
    }
    const isFirst = this.#knownChange === undefined;
    this.#knownChange = known;
    if (!isNew) return;
    if (isFirst) this.#lastCounts = await this.count();
    const resolved = this.#lastCounts.reduce((sum, { state, count }) => sum + (state === 'resolved' ? count : 0), 0);
    if (resolved > mostResolved) await database.query({ text: deleteOldest });
  }

  /** Waits a moment for alerts that are stored and not folded. */
  async #waitForFold(): Promise<void> {
    if (this.#position < this.#storedSeq) await awaitWithin(patienceMs, this.#wake());
  }
}

const deleteOldest = `DELETE FROM signalbox.incident WHERE id IN (SELECT id FROM signalbox.incident
  WHERE resolved_at IS NOT NULL ORDER BY resolved_at DESC OFFSET ${mostResolved} LIMIT ${deletedCount})`;

const toCounts = (rows: readonly Row[]): IncidentCount[] =>
  incidentStates.flatMap((state) =>
    severities.map((level) => {
      const isOne = (row: Row) => row.state === toStateNumber(state) && row.level === toLevelNumber(level);
      return { state, level, count: rows.find(isOne)?.count ?? 0 };
    }),
  );

/** One incident more than the limit, which shows whether there are others; each row has the total, which has no body if there is none. */
const selectPage = (filter: IncidentFilter, limit: number, before?: number): Statement => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const where = (condition: string, value: string | number | undefined, toColumn = (one: unknown) => one): string[] =>
    value === undefined ? [] : [condition.replace('?', bind(toColumn(value)))];
  const toText = (one: unknown): string => toColumnText(String(one));
  const toPattern = (one: unknown): string =>
    toText(one)
      .replaceAll(/[%_\\]/g, '\\$&')
      .replaceAll('*', '%');
  const conditions = [
    toStateCondition(filter.states),
    ...where('level = ?', filter.level, (level) => toLevelNumber(level as Severity)),
    ...where('source LIKE ?', filter.source, toPattern),
    ...where('hostname LIKE ?', filter.hostname, toPattern),
    ...where('number = ?', filter.number),
    ...where('strpos(title, ?) > 0', filter.q, toText),
    ...where('last_at >= ?', filter.since),
    ...where('first_at < ?', filter.until),
  ].join(' AND ');
  const counted = `SELECT count(*) AS total FROM signalbox.incident WHERE ${conditions}`;
  const older = before === undefined ? '' : `AND change < ${bind(before)}`;
  return {
    text: `SELECT all_of_them.total, page.body FROM (${counted}) AS all_of_them LEFT JOIN (
        SELECT change, body FROM signalbox.incident WHERE ${conditions} ${older} ORDER BY change DESC LIMIT ${limit + 1}
      ) AS page ON true ORDER BY page.change DESC`,
    values,
  };
};

/** As the index of those that are active has it, where only they are wanted. */
const toStateCondition = (states: readonly IncidentState[]): string => {
  if (states.length === incidentStates.length) return 'true';
  const numbers = states.map(toStateNumber);
  return numbers.includes(3) ? `state IN (${numbers.join(', ')})` : `state < 3 AND state IN (${numbers.join(', ')})`;
};
