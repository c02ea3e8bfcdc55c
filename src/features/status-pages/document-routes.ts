import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { HttpError } from '../../http/errors.ts';
import type { Route } from '../../kit/route.ts';
import { defineShape, nullable } from '../../kit/shape.ts';
import { writeMaintenanceCalendar, writeRss } from './feeds.ts';
import { createDocumentRoute, type PublicParts } from './public-routes.ts';
import { type ServedPage, sendDocument } from './served.ts';
import type { PageView } from './view.ts';
import { toKumaHeartbeats, toKumaPage, toStatuspageSummary } from './widgets.ts';

interface DocumentParts extends PublicParts {
  /** Returns the URL of a page. */
  toUrl(page: string): string;
}

const KumaPage = defineShape('KumaStatusPage', {
  config: Type.Record(Type.String(), Type.Unknown()),
  incident: nullable(Type.Record(Type.String(), Type.Unknown()), 'Latest open announcement.'),
  publicGroupList: Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'Groups of checks.' }),
  maintenanceList: Type.Array(Type.Record(Type.String(), Type.Unknown())),
});

const KumaHeartbeats = defineShape('KumaHeartbeats', {
  heartbeatList: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown())), {
    description:
      'State changes in the last 24 hours and the current state of each check, by the position of the check on the page.',
  }),
  uptimeList: Type.Record(Type.String(), Type.Number({ examples: [0.999] }), {
    description: 'Availability in the last 24 hours, as a share from 0 to 1.',
  }),
});

const StatuspageSummary = defineShape('StatuspageSummary', {
  page: Type.Record(Type.String(), Type.Unknown()),
  components: Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'Groups and checks.' }),
  incidents: Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'Open announcements.' }),
  scheduled_maintenances: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  status: Type.Object({
    indicator: Type.String({ examples: ['none'] }),
    description: Type.String({ examples: ['All systems are up'] }),
  }),
});

/** Creates a function that sends a document as JSON. */
const sendAsJson =
  (name: string, toValue: (view: PageView) => object) =>
  (served: ServedPage, request: FastifyRequest, reply: FastifyReply): void =>
    sendDocument(request, reply, served, {
      name,
      type: 'application/json; charset=utf-8',
      write: (view) => JSON.stringify(toValue(view)),
    });

/** Creates the routes for a page's documents that programs read. */
export const createDocumentRoutes = (parts: DocumentParts): Route[] => [
  createDocumentRoute(parts, {
    path: '/status/:page/rss.xml',
    operationId: 'readStatusPageFeed',
    summary: 'Get the announcements of a status page as RSS',
    type: 'application/rss+xml',
    send: (served, request, reply) =>
      sendDocument(request, reply, served, {
        name: 'rss',
        type: 'application/rss+xml; charset=utf-8',
        write: (view) => writeRss(view, parts.toUrl(view.page.name)),
      }),
  }),
  createDocumentRoute(parts, {
    path: '/status/:page/maintenance.ics',
    operationId: 'readStatusPageCalendar',
    summary: 'Get the maintenance windows of a status page as iCalendar',
    type: 'text/calendar',
    send: async (served, request, reply) => {
      const text = served.texts.has('ics') ? '' : await writeMaintenanceCalendar(served.view);
      const type = 'text/calendar; charset=utf-8';
      sendDocument(request, reply, served, { name: 'ics', type, write: () => text });
    },
  }),
  createDocumentRoute(parts, {
    path: '/api/status-page/:page',
    operationId: 'getKumaStatusPage',
    summary: 'Get a status page in the format of Uptime Kuma, for widgets',
    type: 'application/json',
    schema: KumaPage,
    send: sendAsJson('kuma', toKumaPage),
  }),
  createDocumentRoute(parts, {
    path: '/api/status-page/heartbeat/:page',
    operationId: 'getKumaHeartbeats',
    summary: 'Get the states of a status page in the format of Uptime Kuma',
    type: 'application/json',
    schema: KumaHeartbeats,
    send: sendAsJson('kuma-heartbeats', toKumaHeartbeats),
  }),
  createDocumentRoute(parts, {
    path: '/api/v2/summary.json',
    operationId: 'getStatuspageSummary',
    summary: 'Get a status page in the format of Statuspage, for widgets',
    type: 'application/json',
    schema: StatuspageSummary,
    querystring: Type.Object({
      page: Type.Optional(
        Type.String({ description: 'Name of a page; the first open page by default.', examples: ['main'] }),
      ),
    }),
    toName: ({ query }) => {
      const { page } = query as { page?: string };
      const [first] = parts.keeper.list().filter(({ values }) => values.access !== 'login');
      if (page !== undefined || first) return page ?? first?.name ?? '';
      throw new HttpError('not-found', 'There is no open status page');
    },
    send: sendAsJson('statuspage', (view) => toStatuspageSummary(view, parts.toUrl(view.page.name))),
  }),
];
