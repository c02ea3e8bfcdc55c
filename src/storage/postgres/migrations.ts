import { minuteMs } from '../../lib/units.ts';

/** Maximum milliseconds for migrating many rows. */
const longMs = 10 * minuteMs;

/** Returns the SQL that creates the table of a log. Released migrations use this SQL, so it must never change. */
const toRecordTable = (name: string): string => `CREATE TABLE signalbox.${name} (
  seq bigint PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  at bigint NOT NULL,
  instance text NOT NULL,
  level text,
  body text NOT NULL
);`;

/**
 * Tables of version 1. Bodies are JSON, as in responses or as in the log in files, because columns in PostgreSQL refuse
 * U+0000. Gates change with every write, so their pages leave room for new row versions. `id + 0` in indexes and orders
 * keeps the planner from scanning the primary key for rare rows, because its statistics may be outdated. Times of
 * records are milliseconds since 1970.
 */
export const firstTables = `
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
 * Incidents with their events. The events are numbered from 1. The last id in the gate is the seq of the last folded
 * alert. Of the alerts from before the migration, only those of the last day are folded. Strings for filters are in
 * lower case and contain no characters that columns refuse.
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

/** Log of runtime settings. */
const settingTables = `
INSERT INTO signalbox.gate (name) VALUES ('setting');

${toRecordTable('setting')}
`;

/** Notifications about incidents, and leases. */
const notificationTables = `
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

/** Log of heartbeats, and its snapshot: the states as of a seq, and the last time at which pings could be received. */
const heartbeatTables = `
INSERT INTO signalbox.gate (name) VALUES ('heartbeat');

${toRecordTable('heartbeat')}
CREATE INDEX heartbeat_at ON signalbox.heartbeat (at);

CREATE TABLE signalbox.heartbeat_state (name text PRIMARY KEY, seq bigint NOT NULL, body text NOT NULL);
`;

/** Pictures of machines, each taken when an incident opened. */
const snapshotTables = `
CREATE TABLE signalbox.incident_snapshot (
  incident uuid PRIMARY KEY REFERENCES signalbox.incident ON DELETE CASCADE,
  at bigint NOT NULL,
  machine text NOT NULL,
  body text NOT NULL
);
CREATE INDEX incident_snapshot_at ON signalbox.incident_snapshot (at);
`;

/** Times of the first and last use of each key. */
const keyTables = `
CREATE TABLE signalbox.key_use (id text PRIMARY KEY, since bigint NOT NULL, last bigint NOT NULL);
`;

/** Sessions, with the times of their first and last tokens. */
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

/** Senders from which each process has received alerts. Needed because repeats of alerts are not stored. */
const activeSenderTables = `
CREATE TABLE signalbox.alert_heard (instance text PRIMARY KEY, at timestamptz NOT NULL, body text NOT NULL);
`;

/**
 * Snapshots of projections, in parts. Events up to `gone` have been deleted from the log. Instances register the
 * version that they know, because versions before 10 read logs without snapshots.
 */
const projectionTables = `
INSERT INTO signalbox.gate (name) VALUES ('projection');
CREATE TABLE signalbox.projection (name text PRIMARY KEY, seq bigint NOT NULL, gone bigint NOT NULL DEFAULT 0);
CREATE TABLE signalbox.projection_part (name text, part int, body text NOT NULL, PRIMARY KEY (name, part));
ALTER TABLE signalbox.writer ADD COLUMN knows int NOT NULL DEFAULT 9;
`;

/**
 * Events of incidents. Their seqs come from the gate of the alerts, so that events and alerts have one common order.
 * The incidents of 1.1.0 become the first snapshot. No incident is resolved by time before an instance has appended its
 * settings. The tables of 1.1.0 stay for a downgrade. Running instances of 1.1.0, however, must not fold alerts into
 * them: a renamed column that they need makes them refuse requests for incidents, and a lease without an end keeps them
 * from notifying. After a downgrade, the migration runs again.
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
    coalesce(counts[1], 0), coalesce(counts[2], 0), coalesce(counts[3], 0),
    -- Alerts of a server without incidents open incidents about which nobody is notified.
    CASE WHEN coalesce(counts[1], 0) = 0 THEN (SELECT last_id FROM signalbox.gate WHERE name = 'alert')
      ELSE coalesce(counts[4], 0) END,
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

/** Last states of hosts, and their history in rings. `slot` is the position of a row in the ring with this `step`. */
const hostTables = `
CREATE TABLE signalbox.host (name text PRIMARY KEY, at bigint NOT NULL, body text NOT NULL);
CREATE TABLE signalbox.host_row (
  host text NOT NULL,
  step int NOT NULL,
  slot int NOT NULL,
  at bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (host, step, slot)
);
`;

/** Log of the availability of checks. */
const availabilityTables = `
INSERT INTO signalbox.gate (name) VALUES ('availability');

${toRecordTable('availability')}
CREATE INDEX availability_at ON signalbox.availability (at);
`;

/** Log of announcements and subscribers of status pages. */
const statusPageTables = `
INSERT INTO signalbox.gate (name) VALUES ('status_page');

${toRecordTable('status_page')}
CREATE INDEX status_page_at ON signalbox.status_page (at);
`;

/** Commands for hosts and their results, until the instance with the request has received the result. */
const hostCommandTables = `
CREATE TABLE signalbox.host_command (
  id text PRIMARY KEY,
  host text NOT NULL,
  body text NOT NULL,
  until timestamptz NOT NULL,
  taken_by text,
  result text
);
`;

/** Migrations in order. `readableBy` is the oldest version that can use the resulting tables. */
export const migrations: readonly { version: number; readableBy: number; text: string; limitMs?: number }[] = [
  { version: 1, readableBy: 1, text: firstTables },
  { version: 2, readableBy: 1, text: incidentTables },
  { version: 3, readableBy: 1, text: settingTables },
  { version: 4, readableBy: 1, text: notificationTables },
  { version: 5, readableBy: 1, text: heartbeatTables },
  { version: 6, readableBy: 1, text: snapshotTables },
  { version: 7, readableBy: 1, text: keyTables },
  { version: 8, readableBy: 1, text: sessionTables },
  { version: 9, readableBy: 1, text: activeSenderTables },
  { version: 10, readableBy: 1, text: projectionTables },
  { version: 11, readableBy: 1, text: eventTables, limitMs: longMs },
  { version: 12, readableBy: 1, text: hostTables },
  { version: 13, readableBy: 1, text: availabilityTables },
  { version: 14, readableBy: 1, text: statusPageTables },
  { version: 15, readableBy: 1, text: hostCommandTables },
];

/** Version of the tables that this program knows. */
export const knownVersion = migrations.length;
