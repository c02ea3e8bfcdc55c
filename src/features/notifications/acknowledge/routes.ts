import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { openFor } from '../../../auth/access.ts';
import { ErrorBody, type ErrorKind, HttpError, toHttpError } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';
import { toPerson } from '../../../kit/people.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { severities } from '../../../kit/severity.ts';
import { defineShape, nullable } from '../../../kit/shape.ts';
import { toLocalMinute } from '../../../lib/local-time.ts';
import { toConsoleLink } from '../message/message.ts';
import { splitWayName } from '../people/way.ts';
import type { AcknowledgeGrant, AcknowledgeLinks } from './links.ts';
import { type AcknowledgePage, acknowledgeHeaders, type PageRow, writePage } from './page.ts';

interface AcknowledgeParts {
  links: AcknowledgeLinks;
  incidents: IncidentSource;
  publicUrl: string | undefined;
}

const LinkedIncident = defineShape('LinkedIncident', {
  number: Type.Integer({ examples: [412] }),
  title: Type.String({ examples: ['disk is full'] }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
  state: Type.Enum(['open', 'acknowledged', 'resolved'], { type: 'string' }),
  acknowledgedBy: nullable(
    Type.String({ examples: ['destination:phone'] }),
    'Author of the acknowledgement; `null` if not acknowledged.',
  ),
});
type LinkedIncident = Static<typeof LinkedIncident>;

const LinkResult = defineShape('AcknowledgeLinkResult', {
  message: Type.String({ description: 'Heading for the page.', examples: ['Acknowledged'] }),
  incidents: Type.Array(LinkedIncident, { description: 'Current state of the incidents.' }),
});

const response = {
  200: {
    content: {
      'application/json': { schema: LinkResult },
      'text/html': { schema: Type.String({ examples: ['<!doctype html>'] }) },
    },
  },
  403: ErrorBody,
  410: ErrorBody,
};

const params = Type.Object({
  token: Type.String({ description: 'Last part of an `acknowledgeUrl`. Valid for 24 hours; needs no login.' }),
});

/** True if the client explicitly accepts HTML. Clients that accept anything get JSON. */
const wantsPage = ({ headers: { accept = '' } }: FastifyRequest): boolean => /\btext\/html\b/i.test(accept);

/**
 * Returns the routes for the page at the `acknowledgeUrl` of a notification and for the button on the page. Link
 * previews only read the page, so they acknowledge nothing.
 */
export const createAcknowledgeRoutes = (parts: AcknowledgeParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/acknowledge/:token',
    ...openFor('incidents:write'),
    staysOpen: true,
    summary: 'Show the incidents of an acknowledgement link',
    schema: { operationId: 'readAcknowledgeLink', params, response },
    handler: async (request, reply) => answer(request, reply, parts, async (grant) => findIncidents(parts, grant)),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/acknowledge/:token',
    ...openFor('incidents:write'),
    staysOpen: true,
    summary: 'Acknowledge the incidents of an acknowledgement link',
    schema: { operationId: 'useAcknowledgeLink', params, response },
    handler: async (request, reply) => answer(request, reply, parts, (grant) => acknowledge(parts, grant)),
  }),
];

/** Incidents named by a link. */
interface LinkedIncidents {
  incidents: readonly SharedIncident[];
  /** Incidents acknowledged by this request. */
  acknowledged: readonly SharedIncident[];
}

const findIncidents = async ({ incidents }: AcknowledgeParts, { ids }: AcknowledgeGrant): Promise<LinkedIncidents> => {
  const found = await Promise.all(ids.map((id) => incidents.find(id)));
  return { incidents: found.filter((incident) => incident !== undefined), acknowledged: [] };
};

/**
 * Returns the author of an acknowledgement made with a link: the person if the link was sent to one of the person's
 * contact methods, otherwise the destination.
 */
const toAuthor = ({ destination }: AcknowledgeGrant): string =>
  splitWayName(destination)?.person ?? `destination:${destination}`;

/** Acknowledges the open incidents of a link. Incidents that are already acknowledged keep their acknowledger. */
const acknowledge = async (parts: AcknowledgeParts, grant: AcknowledgeGrant): Promise<LinkedIncidents> => {
  const { incidents } = await findIncidents(parts, grant);
  const by = toAuthor(grant);
  const acknowledged: SharedIncident[] = [];
  const now: SharedIncident[] = [];
  for (const incident of incidents) {
    const changed = incident.state === 'open' ? await acknowledgeOne(parts, incident.id, by) : undefined;
    if (changed?.acknowledged?.by === by) acknowledged.push(changed);
    now.push(changed ?? incident);
  }
  return { incidents: now, acknowledged };
};

/**
 * Acknowledges an incident. Resolves to the incident after the action, even if it has been resolved in the meantime.
 */
const acknowledgeOne = async (
  { incidents }: AcknowledgeParts,
  id: string,
  by: string,
): Promise<SharedIncident | undefined> => {
  try {
    return await incidents.act({ type: 'acknowledge', id, by });
  } catch (error) {
    if (error instanceof HttpError && error.kind === 'wrong-state') return incidents.find(id);
    throw error;
  }
};

const answer = async (
  request: FastifyRequest,
  reply: FastifyReply,
  parts: AcknowledgeParts,
  handle: (grant: AcknowledgeGrant) => Promise<LinkedIncidents>,
): Promise<void> => {
  try {
    const grant = readGrant(parts, (request.params as Static<typeof params>).token);
    const shown = await handle(grant);
    if (shown.incidents.length === 0) throw refuse('gone', 'These incidents are no longer stored.');
    const heading = toHeading(shown);
    if (!wantsPage(request)) return sendJson(reply, { message: heading, incidents: shown.incidents.map(toLinked) });
    const hasButton = shown.incidents.some(({ state }) => state === 'open');
    sendPage(reply, 200, {
      heading,
      hasButton,
      rows: shown.incidents.map(toRow),
      link: toShownLink(parts, shown),
      text: hasButton ? `No login is needed: the acknowledgement is recorded for ${toPerson(toAuthor(grant))}.` : '',
    });
  } catch (error) {
    const refusal = toHttpError(error);
    if (!refusal || !wantsPage(request)) throw error;
    const page = { heading: 'Nothing was acknowledged', text: refusal.message, rows: [], hasButton: false };
    sendPage(reply.headers(refusal.headers), refusal.status, { ...page, link: toConsoleLink(parts.publicUrl) });
  }
};

const sendPage = (reply: FastifyReply, status: number, page: AcknowledgePage): void =>
  void reply.code(status).headers(acknowledgeHeaders).type('text/html; charset=utf-8').send(writePage(page));

const elsewhere = 'Acknowledge the incident in the console, or with the link of a newer notification.';

const refuse = (kind: ErrorKind, reason: string): HttpError => new HttpError(kind, `${reason} ${elsewhere}`);

const readGrant = ({ links, incidents }: AcknowledgeParts, token: string): AcknowledgeGrant => {
  const grant = links.readToken(token);
  if (grant === 'incomplete') throw refuse('not-found', 'This link is incomplete. Copy the whole link.');
  if (grant === 'forged')
    throw refuse('forbidden', 'This link is not valid: the link was changed, or the key of the server has changed.');
  if (grant === 'expired') throw refuse('gone', 'This link has expired: links are valid for 24 hours.');
  if (grant === 'removed')
    throw refuse('forbidden', 'This link is not valid: its destination was removed, or its address has changed.');
  if (!incidents) throw refuse('gone', 'This server no longer serves incidents.');
  return grant;
};

const toHeading = ({ incidents, acknowledged }: LinkedIncidents): string => {
  const isOne = incidents.length === 1;
  if (acknowledged.length > 0) return isOne ? 'Acknowledged' : `${acknowledged.length} incidents acknowledged`;
  const open = incidents.filter(({ state }) => state === 'open').length;
  if (open > 0) return isOne ? 'Acknowledge this incident?' : `Acknowledge ${open} incidents?`;
  const [first] = incidents;
  if (isOne && first?.state === 'acknowledged') return `Already acknowledged${toOwner(first)}`;
  if (isOne) return 'This incident is resolved';
  return 'All incidents are acknowledged or resolved';
};

const toOwner = ({ state, acknowledged }: SharedIncident): string =>
  state === 'acknowledged' && acknowledged ? ` by ${toPerson(acknowledged.by)}` : '';

const toRow = (incident: SharedIncident): PageRow => {
  const { number, title, level, state, hostname, source, stateSince } = incident;
  return {
    title: `#${number} ${title}`,
    level: state === 'resolved' ? 'resolved' : level.toLowerCase(),
    facts: [level, hostname, source, `${state}${toOwner(incident)} since ${toLocalMinute(stateSince)}`]
      .filter((fact) => fact !== '')
      .join(' · '),
  };
};

const toLinked = ({ number, title, level, state, acknowledged }: SharedIncident): LinkedIncident => ({
  number,
  title,
  level,
  state,
  acknowledgedBy: state === 'acknowledged' ? (acknowledged?.by ?? null) : null,
});

const toShownLink = ({ publicUrl }: AcknowledgeParts, { incidents }: LinkedIncidents): string | undefined => {
  const [first, ...others] = incidents;
  return toConsoleLink(publicUrl, others.length === 0 ? first : undefined);
};
