/**
 * Bodies are JSON as it is answered, or as the log in files has it: PostgreSQL refuses U+0000 in columns. Rows of gates change with every write, so their
 * pages keep space for new versions of them. `id + 0` in indexes and orders keeps the planner, whose statistics may be
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
