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

CREATE TABLE signalbox.alert (
  seq bigint PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  at bigint NOT NULL,
  instance text NOT NULL,
  level text,
  body text NOT NULL
);
CREATE INDEX alert_at ON signalbox.alert (at, level);
CREATE INDEX alert_level ON signalbox.alert (level, (seq + 0));
CREATE INDEX alert_instance ON signalbox.alert (instance, (seq + 0));

CREATE TABLE signalbox.audit (
  seq bigint PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  at bigint NOT NULL,
  instance text NOT NULL,
  level text,
  body text NOT NULL
);
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
export const incidentTables = `
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
