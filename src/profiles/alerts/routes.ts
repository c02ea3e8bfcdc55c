import type { Access } from '../../auth/guard.ts';
import { createClientSignal, createQueue } from '../../http/request/queue.ts';
import { ErrorBody, HttpError } from '../../http/response/errors.ts';
import { sendJson, sendRows, whenReady } from '../../http/response/json.ts';
import type { Journal } from '../../storage/journal/journal.ts';
import { defineRoute, type Route } from '../route.ts';
import { createAlert, isEmpty, toAlert } from './alert.ts';
import { createNotReady, toListRefusal, toRefusal } from './refusal.ts';
import { AlertBody, AlertList, AlertQuery, AlertReceipt, Readiness } from './schema.ts';

/** The routes of the alert log. */
export const createAlertRoutes = (journal: Journal, clock: () => Date, access: Access): Route[] => [
  receiveAlert(journal, clock, access),
  listAlerts(journal, access),
  readReadiness(journal),
];

const receiveAlert = (journal: Journal, clock: () => Date, access: Access): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/alert',
    access,
    summary: 'Store an alert; the response comes when it is on disk',
    schema: { body: AlertBody, response: { 200: AlertReceipt, 400: ErrorBody, 503: ErrorBody } },
    handler: ({ body }, reply) => {
      if (isEmpty(body)) {
        throw new HttpError('invalid', 'At least one of source, level, message, hostname must be given');
      }
      const stored = journal.append({ ...createAlert(body, clock()) }).catch((error) => {
        throw toRefusal(error);
      });
      return whenReady(reply, stored, ({ id }) => sendJson(reply, { received: true, id }));
    },
  });

const listAlerts = (journal: Journal, access: Access): Route => {
  // A listing may read a lot: few at a time leave the processor and the disk to other requests.
  const reading = createQueue({ running: 2, waiting: 16, refusal: 'Too many lists of alerts are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/alerts',
    access,
    summary: 'List the last alerts, oldest first',
    schema: { querystring: AlertQuery, response: { 200: AlertList, 400: ErrorBody, 503: ErrorBody } },
    handler: async ({ query: { count, level } }, reply) => {
      const match = level === undefined ? undefined : { field: 'level', value: level };
      const listing = await reading
        .run(() => journal.listLast(count, match), createClientSignal(reply))
        .catch((error) => {
          throw toListRefusal(error, count);
        });
      return sendRows(reply, listing, toAlert);
    },
  });
};

const readReadiness = (journal: Journal): Route =>
  defineRoute({
    method: 'GET',
    path: '/ready',
    access: 'open',
    summary: 'Say whether alerts can be stored',
    schema: { response: { 200: Readiness, 503: ErrorBody } },
    handler: async () => {
      if (!journal.state().healthy) throw createNotReady();
      return { status: 'ready' } as const;
    },
  });
