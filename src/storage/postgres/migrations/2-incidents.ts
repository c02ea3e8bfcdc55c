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
