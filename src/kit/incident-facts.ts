import type { SharedIncident } from './incident-source.ts';
import { toTimeText } from './route.ts';

/** Returns an incident's members in responses and webhooks. */
export const toIncidentFacts = ({ acknowledged, resolved, ...incident }: SharedIncident) => ({
  id: incident.id,
  number: incident.number,
  key: incident.about,
  state: incident.state,
  level: incident.level,
  highestLevel: incident.highestLevel,
  title: incident.title,
  source: incident.source,
  hostname: incident.hostname,
  sender: incident.sender,
  labels: incident.labels,
  link: incident.link,
  count: incident.count,
  firstAt: toTimeText(incident.firstAt),
  lastAt: toTimeText(incident.lastAt),
  stateSince: toTimeText(incident.stateSince),
  acknowledgedBy: acknowledged?.by ?? null,
  acknowledgedAt: acknowledged ? toTimeText(acknowledged.at) : null,
  acknowledgedUntil: acknowledged?.until ? toTimeText(acknowledged.until) : null,
  acknowledgedComment: acknowledged?.comment ?? null,
  resolvedBy: resolved?.by ?? null,
  resolvedAt: resolved ? toTimeText(resolved.at) : null,
  resolvedReason: resolved?.reason ?? null,
  reopened: incident.reopened,
  version: incident.version,
});
