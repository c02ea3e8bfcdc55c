import type { Severity } from '../../../kit/severity.ts';
import { makeWellFormed } from '../../../lib/well-formed.ts';
import { type DeliveredAlert, toAlertText, toAlertTitle } from './alert.ts';
import type { IncidentMessage } from './message.ts';

/** What destinations send: an alert, or a message about incidents, with what receivers of each kind show of both. */
export type Outgoing = {
  /** The same for each attempt to send it. */
  id: string;
  /** RFC 3339. */
  time: string;
  urgency: Urgency;
  /** One line. */
  title: string;
  /** What is below the title; never empty. */
  text: string;
  link?: string;
  /** Where the receiver can acknowledge the incidents. */
  acknowledgeUrl?: string;
  /** The instances that have sent it, this one last. */
  via: string;
} & ({ alert: DeliveredAlert; message?: undefined } | { alert?: undefined; message: IncidentMessage });

/** How urgent receivers show an alert. */
export type Urgency = 'critical' | 'error' | 'warning' | 'info' | 'resolved';

const urgencies: Record<Severity, Urgency> = { CRITICAL: 'critical', ERROR: 'error', WARNING: 'warning', INFO: 'info' };

/** Logs of versions before 1.2 have texts with half a surrogate pair, which no URL and few receivers can have. */
export const toOutgoing = (content: DeliveredAlert | IncidentMessage): Outgoing => {
  const sendable = makeWellFormed(content);
  return 'happenings' in sendable ? toMessageOutgoing(sendable) : toAlertOutgoing(sendable);
};

const toMessageOutgoing = (message: IncidentMessage): Outgoing => {
  const { id, time, what, severity, title, body, link, acknowledgeUrl, via } = message;
  return {
    id,
    time,
    title,
    text: body,
    via,
    message,
    urgency: toMessageUrgency(what, severity),
    ...(link !== undefined && { link }),
    ...(acknowledgeUrl !== undefined && { acknowledgeUrl }),
  };
};

const toMessageUrgency = (what: IncidentMessage['what'], severity: Severity): Urgency => {
  if (what === 'resolved') return 'resolved';
  return what === 'acknowledged' ? 'info' : urgencies[severity];
};

const toAlertOutgoing = (alert: DeliveredAlert): Outgoing => {
  const { id, time, severity, status, link, via } = alert;
  const title = toAlertTitle(alert);
  return {
    id,
    time,
    title,
    text: toAlertText(alert, title),
    via,
    alert,
    urgency: status === 'resolved' ? 'resolved' : urgencies[severity],
    ...(link !== undefined && { link }),
  };
};
