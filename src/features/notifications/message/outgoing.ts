import type { Severity } from '../../../kit/severity.ts';
import { makeWellFormed } from '../../../lib/well-formed.ts';
import { type DeliveredAlert, toAlertText, toAlertTitle } from './alert.ts';
import type { IncidentMessage } from './message.ts';

/** Content for a receiver: an alert or incident message, with the fields common to both. */
export type Outgoing = {
  /** Id of the content. Identical in every attempt. */
  id: string;
  /** RFC 3339. */
  time: string;
  urgency: Urgency;
  /** Single line. */
  title: string;
  /** Text below the title. Never empty. */
  text: string;
  link?: string;
  /** URL that lets the receiver acknowledge the incidents. */
  acknowledgeUrl?: string;
  /** Instances that have delivered the content. Ends with this instance. */
  via: string;
} & ({ alert: DeliveredAlert; message?: undefined } | { alert?: undefined; message: IncidentMessage });

/** Urgency that tells a receiver how to present a message. */
export type Urgency = 'critical' | 'error' | 'warning' | 'info' | 'resolved';

const urgencies: Record<Severity, Urgency> = { CRITICAL: 'critical', ERROR: 'error', WARNING: 'warning', INFO: 'info' };

/**
 * Converts content for a receiver. Replaces lone surrogates, because few receivers accept them. They occur in logs from
 * before version 1.2.
 */
export const toOutgoing = (content: DeliveredAlert | IncidentMessage): Outgoing => {
  const sendable = makeWellFormed(content);
  return 'updates' in sendable ? toMessageOutgoing(sendable) : new AlertOutgoing(sendable);
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

/** Alert as content. Its title and text are written on demand, because webhooks use neither. */
class AlertOutgoing {
  readonly id: string;
  readonly time: string;
  readonly via: string;
  readonly urgency: Urgency;
  declare readonly link?: string;
  readonly alert: DeliveredAlert;

  constructor(alert: DeliveredAlert) {
    this.id = alert.id;
    this.time = alert.time;
    this.via = alert.via;
    this.urgency = alert.status === 'resolved' ? 'resolved' : urgencies[alert.severity];
    if (alert.link !== undefined) this.link = alert.link;
    this.alert = alert;
  }

  get title(): string {
    return toAlertTitle(this.alert);
  }

  get text(): string {
    return toAlertText(this.alert);
  }
}
