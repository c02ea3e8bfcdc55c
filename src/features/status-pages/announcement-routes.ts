import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { createId } from '../../storage/journal/line.ts';
import {
  AnnouncementList,
  NewAnnouncement,
  NewUpdate,
  ShownAnnouncement,
  toShownAnnouncement,
} from './announcement.ts';
import type { PageKeeper } from './kind.ts';
import type { PageStore } from './store.ts';

interface AnnouncementParts {
  store: PageStore;
  keeper: PageKeeper;
  incidents: Pick<IncidentSource, 'require'>;
  clock: () => Date;
}

/** Creates the routes of announcements. Only people can write announcements. */
export const createAnnouncementRoutes = ({ store, keeper, incidents, clock }: AnnouncementParts): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/api/incidents/:id/announcements',
    ...needs('incidents:write'),
    summary: 'Announce an incident on a status page',
    schema: {
      operationId: 'announceIncident',
      params: Type.Object({ id: Type.String({ description: 'Id or number of an incident.', examples: ['412'] }) }),
      body: NewAnnouncement,
      response: { 201: ShownAnnouncement, 404: ErrorBody, 409: ErrorBody },
    },
    handler: async (request, reply) => {
      assertOwnMembers(request.body, NewAnnouncement);
      const { page, title, text, state } = request.body;
      const { id, number } = await incidents.require(request.params.id);
      keeper.require(page);
      const at = clock().getTime();
      const created = await store.announce({
        type: 'announced',
        announcement: { id: createId(at), page, incident: { id, number }, title },
        update: { at, state, text, by: callerOf(request) },
        at,
      });
      return sendJson(reply.code(201), toShownAnnouncement(created));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/announcements',
    ...needs('incidents:read'),
    summary: 'List announcements',
    schema: {
      operationId: 'listAnnouncements',
      querystring: Type.Object({
        statusPage: Type.Optional(Type.String({ description: 'Only announcements of this page.', examples: ['main'] })),
        incident: Type.Optional(
          Type.String({ description: 'Only announcements of the incident with this id or number.', examples: ['412'] }),
        ),
      }),
      response: { 200: AnnouncementList },
    },
    handler: async ({ query: { statusPage: page, incident } }, reply) => {
      await store.catchUp();
      const all = store.state
        .listAnnouncements()
        .filter(
          (one) =>
            (page === undefined || one.page === page) &&
            (incident === undefined || one.incident.id === incident || String(one.incident.number) === incident),
        );
      return sendJson(reply, { count: all.length, data: all.map(toShownAnnouncement) });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/announcements/:id/updates',
    ...needs('incidents:write'),
    summary: 'Add an update to an announcement; `resolved` ends the announcement',
    schema: {
      operationId: 'updateAnnouncement',
      params: Type.Object({ id: Type.String({ description: 'Id of an announcement.' }) }),
      body: NewUpdate,
      response: { 201: ShownAnnouncement, 404: ErrorBody, 409: ErrorBody },
    },
    handler: async (request, reply) => {
      assertOwnMembers(request.body, NewUpdate);
      const { text, state } = request.body;
      const at = clock().getTime();
      const created = await store.announce({
        type: 'updated',
        announcement: request.params.id,
        update: { at, state, text, by: callerOf(request) },
        at,
      });
      return sendJson(reply.code(201), toShownAnnouncement(created));
    },
  }),
];
