import { createHmac } from 'node:crypto';
import { minuteMs } from '../../lib/units.ts';
import { readPostgresUrl } from './address.ts';
import { type Connection, Primary, type Statement } from './connection.ts';
import {
  findLastingProblem,
  foreignTables,
  isForbidden,
  isMissing,
  LastingProblem,
  missingRights,
} from './database-errors.ts';

/** Milliseconds that the conversion of many rows may take. */
const longestMs = 10 * minuteMs;

/** The table of a log of records; like the migrations that make one, it stays as it is. */
const toRecordTable = (name: string): string => `CREATE TABLE signalbox.${name} (
  seq bigint PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  at bigint NOT NULL,
  instance text NOT NULL,
  level text,
  body text NOT NULL
);`;

/**
 * Bodies are JSON as it is answered, or as the log in files has it: PostgreSQL refuses U+0000 in columns. Rows of gates
 * change with every write, so their pages keep space for new versions of them. `id + 0` in indexes and orders keeps the planner, whose statistics may be
 * old, from walking the primary key for rows that are rare. The times of records are milliseconds since 1970.
 */
export const tables = `
CREATE TABLE signalbox.gate (
  name text PRIMARY KEY,
  last_id bigint NOT NULL DEFAULT 0,
  at timestamptz NOT NULL DEFAULT 'epoch',
  counts bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 10);
INSERT INTO signalbox.gate (name) VALUES ('task'), ('item'), ('simple_task'), ('alert'), ('audit');

CREATE TABLE signalbox.writer (
  instance uuid PRIMARY KEY,
  epoch bigint NOT NULL,
  batch bigint NOT NULL,
  name text NOT NULL,
  version text NOT NULL,
  seen_at timestamptz NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE signalbox.shared (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  secret text NOT NULL,
  time_zone text NOT NULL
);

CREATE TABLE signalbox.task (
  id bigint PRIMARY KEY,
  status smallint NOT NULL,
  priority smallint NOT NULL,
  version int NOT NULL,
  body text NOT NULL
);
CREATE INDEX task_status ON signalbox.task (status, (id + 0));
CREATE INDEX task_priority ON signalbox.task (priority, (id + 0));
CREATE INDEX task_status_priority ON signalbox.task (status, priority, (id + 0));

CREATE TABLE signalbox.idempotency (
  key text PRIMARY KEY,
  fingerprint text NOT NULL,
  answer text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX idempotency_at ON signalbox.idempotency (at);

CREATE TABLE signalbox.item (id bigint PRIMARY KEY, body text NOT NULL);
CREATE TABLE signalbox.item_number (number int PRIMARY KEY);
CREATE TABLE signalbox.simple_task (id bigint PRIMARY KEY, body text NOT NULL);

${toRecordTable('alert')}
CREATE INDEX alert_at ON signalbox.alert (at, level);
CREATE INDEX alert_level ON signalbox.alert (level, (seq + 0));
CREATE INDEX alert_instance ON signalbox.alert (instance, (seq + 0));

${toRecordTable('audit')}
CREATE INDEX audit_at ON signalbox.audit (at);

CREATE TABLE signalbox.login (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  instance uuid NOT NULL,
  ip text,
  name text,
  is_right boolean NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX login_at ON signalbox.login (at);

CREATE TABLE signalbox.repeat (hash text PRIMARY KEY, state text NOT NULL, id uuid NOT NULL, at bigint NOT NULL);
CREATE INDEX repeat_at ON signalbox.repeat (at);
`;

/**
 * Incidents, and their events from 1. The gate's last id is the seq of the last alert that was folded; of the alerts of before
 * there were incidents, those of the last day are. Texts to filter by are in lower case, without what columns do not take.
 */
const incidentTables = `
INSERT INTO signalbox.gate (name, last_id, counts)
  SELECT 'incident', coalesce((SELECT min(seq) - 1 FROM signalbox.alert
    WHERE at >= floor(extract(epoch FROM now()) * 1000)::bigint - 86400000), last_id), ARRAY[0, 0, 0, last_id]
  FROM signalbox.gate WHERE name = 'alert';

CREATE TABLE signalbox.incident (
  id uuid PRIMARY KEY,
  number bigint NOT NULL UNIQUE,
  key text NOT NULL,
  state smallint NOT NULL,
  level smallint NOT NULL,
  change bigint NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  heard_at bigint,
  until_at bigint,
  resolved_at bigint,
  source text NOT NULL,
  hostname text NOT NULL,
  title text NOT NULL,
  body text NOT NULL
);
CREATE INDEX incident_key ON signalbox.incident (key, number);
CREATE INDEX incident_change ON signalbox.incident (change);
CREATE INDEX incident_active ON signalbox.incident (change) WHERE state < 3;
CREATE INDEX incident_heard ON signalbox.incident (heard_at) WHERE heard_at IS NOT NULL;
CREATE INDEX incident_until ON signalbox.incident (until_at) WHERE until_at IS NOT NULL;
CREATE INDEX incident_resolved ON signalbox.incident (resolved_at) WHERE resolved_at IS NOT NULL;

CREATE TABLE signalbox.incident_event (
  incident uuid NOT NULL REFERENCES signalbox.incident ON DELETE CASCADE,
  number int NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (incident, number)
);
`;

/** Settings that people make at run time, as a log of changes. */
const settingTables = `
INSERT INTO signalbox.gate (name) VALUES ('setting');

${toRecordTable('setting')}
`;

/** Notifications of incidents to destinations, and which instance sends them at present. */
const noticeTables = `
ALTER TABLE signalbox.incident ADD COLUMN has_notices boolean NOT NULL DEFAULT false;
CREATE INDEX incident_unsettled ON signalbox.incident (id) WHERE state < 3 OR has_notices;
ALTER TABLE signalbox.incident_event ADD COLUMN destination text, ADD COLUMN change bigint;
CREATE INDEX incident_event_change ON signalbox.incident_event (change) WHERE change IS NOT NULL;
CREATE INDEX incident_event_destination ON signalbox.incident_event (destination, change) WHERE change IS NOT NULL;

CREATE TABLE signalbox.lease (
  name text PRIMARY KEY,
  holder uuid NOT NULL,
  until timestamptz NOT NULL
);
`;

/** What was sent to heartbeats, what followed from all that was sent up to a seq, and until when anything could be received. */
const heartbeatTables = `
INSERT INTO signalbox.gate (name) VALUES ('heartbeat');

${toRecordTable('heartbeat')}
CREATE INDEX heartbeat_at ON signalbox.heartbeat (at);

CREATE TABLE signalbox.heartbeat_state (name text PRIMARY KEY, seq bigint NOT NULL, body text NOT NULL);
`;

/** What the machine of an incident was doing when it opened. */
const snapshotTables = `
CREATE TABLE signalbox.incident_snapshot (
  incident uuid PRIMARY KEY REFERENCES signalbox.incident ON DELETE CASCADE,
  at bigint NOT NULL,
  machine text NOT NULL,
  body text NOT NULL
);
CREATE INDEX incident_snapshot_at ON signalbox.incident_snapshot (at);
`;

/** Since when keys are known, and when they were used last. */
const keyTables = `
CREATE TABLE signalbox.key_use (id text PRIMARY KEY, since bigint NOT NULL, last bigint NOT NULL);
`;

/** Sessions for which a token was issued in the last hours: since when, and when it was issued. */
const sessionTables = `
CREATE TABLE signalbox.session (
  id text PRIMARY KEY,
  name text NOT NULL,
  since bigint NOT NULL,
  at bigint NOT NULL,
  address text,
  client text
);
CREATE INDEX session_name ON signalbox.session (name, at);
CREATE INDEX session_at ON signalbox.session (at);
`;

/** What each process has heard of senders, since repeats of alerts are not stored. */
const heardTables = `
CREATE TABLE signalbox.alert_heard (instance text PRIMARY KEY, at timestamptz NOT NULL, body text NOT NULL);
`;

/**
 * Snapshots of projections, in parts: events up to `gone` are deleted from the log. Instances say how much they know, since
 * programs that know less than version 10 read logs without snapshots.
 */
const projectionTables = `
INSERT INTO signalbox.gate (name) VALUES ('projection');
CREATE TABLE signalbox.projection (name text PRIMARY KEY, seq bigint NOT NULL, gone bigint NOT NULL DEFAULT 0);
CREATE TABLE signalbox.projection_part (name text, part int, body text NOT NULL, PRIMARY KEY (name, part));
ALTER TABLE signalbox.writer ADD COLUMN knows int NOT NULL DEFAULT 9;
`;

/**
 * Events of incidents, in one order with alerts: their seqs come from the gate of those. The incidents of 1.1.0 become the first
 * snapshot; time ends none of them before an instance has said after how long.
 *
 * The tables of 1.1.0 stay for those who go back, but its instances cannot use them any more, so none folds alerts into them:
 * without a column they refuse requests for incidents at once, and nobody ever gives up the lease of those who notify. This
 * runs again after somebody has gone back.
 */
const eventTables = `
ALTER TABLE signalbox.incident RENAME COLUMN body TO former_body;
INSERT INTO signalbox.lease (name, holder, until)
  VALUES ('notifications', '00000000-0000-0000-0000-000000000000', 'infinity')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until;
ALTER TABLE signalbox.incident_snapshot DROP CONSTRAINT IF EXISTS incident_snapshot_incident_fkey;

${toRecordTable('alert_event')}
CREATE INDEX alert_event_at ON signalbox.alert_event (at);

ALTER TABLE signalbox.projection ADD COLUMN IF NOT EXISTS parts text;
INSERT INTO signalbox.projection (name, seq) SELECT 'alert', last_id FROM signalbox.gate WHERE name = 'incident';
INSERT INTO signalbox.projection_part (name, part, body)
  SELECT 'alert', 0, format('[{"counters":{"lastNumber":%s,"lastChange":%s,"active":%s,"oldUntil":%s},"rules":%s}]',
    coalesce(counts[1], 0), coalesce(counts[2], 0), coalesce(counts[3], 0), coalesce(counts[4], 0),
    CASE WHEN counts[1] > 0 THEN '{"quietMs":0,"retainMs":0}' ELSE '{}' END)
  FROM signalbox.gate WHERE name = 'incident';
INSERT INTO signalbox.projection_part (name, part, body)
  SELECT 'alert', 1 + (place - 1) / 50, '[' || string_agg(entry, E',\\n' ORDER BY place) || ']' FROM (
    SELECT row_number() OVER (ORDER BY change) AS place, '{"incident":' || former_body || ',"events":[' || coalesce((
      SELECT string_agg(event.body, ',' ORDER BY event.number) FROM signalbox.incident_event AS event
        WHERE event.incident = incident.id
    ), '') || ']}' AS entry FROM signalbox.incident
  ) AS entries GROUP BY 2;
`;

/** In their order, each with the oldest version that can use the schema after it. */
const migrations: readonly { version: number; readableBy: number; text: string; limitMs?: number }[] = [
  { version: 1, readableBy: 1, text: tables },
  { version: 2, readableBy: 1, text: incidentTables },
  { version: 3, readableBy: 1, text: settingTables },
  { version: 4, readableBy: 1, text: noticeTables },
  { version: 5, readableBy: 1, text: heartbeatTables },
  { version: 6, readableBy: 1, text: snapshotTables },
  { version: 7, readableBy: 1, text: keyTables },
  { version: 8, readableBy: 1, text: sessionTables },
  { version: 9, readableBy: 1, text: heardTables },
  { version: 10, readableBy: 1, text: projectionTables },
  { version: 11, readableBy: 1, text: eventTables, limitMs: longestMs },
];

/** The version of the schema that this program knows. */
export const knownVersion = migrations.length;

/** Begins a transaction in which nobody else changes the schema. The number stands for signalbox. */
const begin: Statement[] = [
  { text: 'BEGIN; SET LOCAL lock_timeout = 2500; SELECT pg_advisory_xact_lock(7374)' },
  { text: 'CREATE SCHEMA IF NOT EXISTS signalbox' },
  {
    text: `CREATE TABLE IF NOT EXISTS signalbox.schema
      (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL, readable_by int NOT NULL)`,
  },
  { text: 'INSERT INTO signalbox.schema (version, readable_by) VALUES (0, 0) ON CONFLICT DO NOTHING' },
];

/**
 * Brings the schema up to date; any number of instances may do that at once. Throws a LastingProblem for one that only a
 * newer program can use.
 */
export const migrate = async (
  connection: Connection,
  onMigrated: (done: number, total: number) => void = () => undefined,
): Promise<void> => {
  const found = await readVersion(connection).catch((error) => {
    if (isMissing(error)) return 0;
    throw error;
  });
  if (found >= knownVersion) return;
  await runAll(connection, begin);
  const current = await readVersion(connection);
  const missing = migrations.filter(({ version }) => version > current);
  // One after the other, so that each can be told.
  for (const [done, { version, readableBy, text, limitMs }] of missing.entries()) {
    onMigrated(done, missing.length);
    // Deleted rows have raised it.
    const note = {
      text: 'UPDATE signalbox.schema SET version = $1, readable_by = greatest(readable_by, $2)',
      values: [version, readableBy],
    };
    await runAll(connection, [{ text }, note], limitMs).catch((error) => {
      throw current > 0 && isForbidden(error) ? new LastingProblem(foreignTables, { cause: error }) : error;
    });
  }
  await runAll(connection, [{ text: 'COMMIT' }]);
  if (missing.length > 0) onMigrated(missing.length, missing.length);
};

/** The version of the schema, whose table exists. Throws a LastingProblem for one that only a newer program can use. */
export const readVersion = async (connection: Connection): Promise<number> => {
  const [row] = await connection.query({ text: 'SELECT version, readable_by AS "readableBy" FROM signalbox.schema' });
  const { version, readableBy } = row ?? { version: 0, readableBy: 0 };
  if (readableBy <= knownVersion) return version;
  throw new LastingProblem(
    `its tables are of version ${version}, and this program knows ${knownVersion}: upgrade signalbox`,
  );
};

/** Runs statements in their order; throws the first error. */
export const runAll = async (
  connection: Connection,
  statements: readonly Statement[],
  limitMs?: number,
): Promise<void> => {
  for (const outcome of await connection.run(statements, limitMs)) if ('error' in outcome) throw outcome.error;
};

/** What all instances of a database have in common. */
export interface Common {
  /** The key that signs tokens. */
  secret: string;
  /** The time zone of times without one, e.g. `Europe/Berlin`. */
  timeZone: string;
}

/** The first instance of a database says what the others must have in common with it. Throws a LastingProblem. */
export const claimCommon = async (connection: Connection, common: Common): Promise<void> => {
  if (await compareCommon(connection, common)) return;
  await connection.query({
    text: 'INSERT INTO signalbox.shared (secret, time_zone) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    values: [toSecretMark(common), common.timeZone],
  });
  await compareCommon(connection, common);
};

/** False if no instance has used the database yet. Throws a LastingProblem if the others have something else. */
const compareCommon = async (connection: Connection, common: Common): Promise<boolean> => {
  const [row] = await connection.query({ text: 'SELECT secret, time_zone AS "timeZone" FROM signalbox.shared' });
  if (!row) return false;
  if (row.secret !== toSecretMark(common)) {
    throw new LastingProblem('its other instances use another jwtSecret: set the same');
  }
  if (row.timeZone === common.timeZone) return true;
  throw new LastingProblem(`its other instances use the time zone ${row.timeZone}: set timeZone to that`);
};

/** The secret itself is not stored. */
const toSecretMark = ({ secret }: Common): string =>
  createHmac('sha256', secret).update('signalbox').digest('base64url');

/** Versions of the tables in a database: the one that it has, if any, and the one that a start would bring it to. */
interface SchemaPlan {
  found: number | undefined;
  known: number;
}

/**
 * What a start would do to the database, in a transaction that cannot write. Throws a LastingProblem where a start would
 * refuse it; any other error passes.
 */
export const readPlan = async (url: string, common: Common): Promise<SchemaPlan> => {
  let connection: Connection | undefined;
  try {
    connection = await new Primary(readPostgresUrl(url)).connect();
    await connection.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    const [state] = await connection.query({
      text: `SELECT to_regclass('signalbox.schema') IS NOT NULL AS "hasSchema",
        to_regclass('signalbox.shared') IS NOT NULL AS "hasShared",
        has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
        NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'signalbox' AND NOT pg_has_role(tableowner, 'USAGE')) AS "isOwner"`,
    });
    const found = state.hasSchema ? await readVersion(connection) : undefined;
    if ((found ?? 0) < knownVersion && !state.mayCreate) throw new LastingProblem(missingRights);
    if ((found ?? 0) < knownVersion && !state.isOwner) throw new LastingProblem(foreignTables);
    if (state.hasShared) await compareCommon(connection, common);
    return { found, known: knownVersion };
  } catch (error) {
    throw findLastingProblem(error) ?? error;
  } finally {
    connection?.close();
  }
};
