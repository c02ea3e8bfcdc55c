import type { FastifyReply } from 'fastify';
import { sendJson } from '../../http/json.ts';
import { formatOf, toText, toTextOrNull } from '../../kit/alert-record.ts';
import { toIncidentFacts } from '../../kit/incident.ts';
import type { IncidentHold } from '../../kit/incident-source.ts';
import { toSeverity } from '../../kit/severity.ts';
import type { SilenceSource } from '../../kit/silence-source.ts';
import { toTimeOrNull, toTimeText } from '../../kit/time.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { toLabels } from './description.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';
import type { Incident, IncidentAlert, IncidentEvent } from './schema.ts';

/** Converts an incident to the form used in responses. */
export type ShowIncident = (stored: StoredIncident) => Incident;

/**
 * Creates the function that converts incidents. An unresolved incident gets the ids of the silences that currently
 * match it.
 */
export const createShowIncident =
  (
    silences: Pick<SilenceSource, 'silencesOf'>,
    findHold: (incident: StoredIncident) => IncidentHold | undefined,
    clock: () => Date,
  ): ShowIncident =>
  (stored) => {
    const { state, title, task, snapshot, inhibited, openings } = stored;
    const past = inhibited?.opening === openings ? inhibited.cause : undefined;
    return {
      ...toIncidentFacts(stored),
      silencedBy: state === 'resolved' ? [] : silences.silencesOf({ ...stored, text: title }, clock().getTime()),
      cause: (state === 'resolved' ? past : findHold(stored)?.cause) ?? null,
      task,
      responders: [...(stored.responders ?? [])],
      snapshot: snapshot?.isKept ? toTimeText(snapshot.at) : null,
    };
  };

/** Sends an incident with additional members. Its version is the `ETag`. */
export const sendIncident = (
  reply: FastifyReply,
  show: ShowIncident,
  incident: StoredIncident,
  more: object = {},
): void => sendJson(reply.header('etag', `"${incident.version}"`), { ...show(incident), ...more });

export const toIncidentEvent = ({ at, until, change: _, ...event }: StoredEvent): IncidentEvent => ({
  by: null,
  level: null,
  alert: null,
  comment: null,
  reason: null,
  task: null,
  destination: null,
  what: null,
  result: null,
  targets: null,
  cause: null,
  policy: null,
  step: null,
  round: null,
  ...event,
  at: toTimeText(at),
  until: toTimeOrNull(until),
});

/** Converts a stored alert to the form used by the routes of its incident. */
export const toIncidentAlert = (record: StoredRecord): IncidentAlert => {
  const level = toText(record['level']);
  return {
    seq: record.seq,
    id: record.id,
    time: toTextOrNull(record['time']),
    format: formatOf(record),
    status: toTextOrNull(record['status']),
    level,
    severity: toSeverity(level),
    message: toText(record['message']),
    source: toText(record['source']),
    hostname: toText(record['hostname']),
    labels: toLabels(record),
    link: toTextOrNull(record['link']),
    details: toTextOrNull(record['details']),
  };
};
