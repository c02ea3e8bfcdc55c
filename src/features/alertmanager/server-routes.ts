import type { FastifyReply } from 'fastify';
import { sendJson } from '../../http/json.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { alertmanagerReading, alertmanagerReceiver } from './parts.ts';
import { AlertmanagerReceivers, AlertmanagerStatus } from './schema.ts';

/** Creates the routes that describe the server. */
export const createAlertmanagerServerRoutes = (version: string, startedAt: Date): Route[] => [
  createReceiversRoute(),
  createStatusRoute(version, startedAt),
];

const createReceiversRoute = (): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v2/receivers',
    ...alertmanagerReading,
    summary: 'List receivers; the only receiver is `signalbox`',
    schema: { operationId: 'listAlertmanagerReceivers', response: { 200: AlertmanagerReceivers } },
    handler: (_request, reply: FastifyReply) => sendJson(reply, [alertmanagerReceiver]),
  });

const createStatusRoute = (version: string, startedAt: Date): Route => {
  const status = {
    cluster: { status: 'disabled', name: '', peers: [] },
    versionInfo: { version, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' },
    config: { original: 'route:\n  receiver: signalbox\nreceivers:\n- name: signalbox\n' },
    uptime: startedAt.toISOString(),
  };
  return defineRoute({
    method: 'GET',
    path: '/api/v2/status',
    ...alertmanagerReading,
    summary: 'Get the server status, which Alertmanager clients request first',
    schema: { operationId: 'getAlertmanagerStatus', response: { 200: AlertmanagerStatus } },
    handler: (_request, reply) => sendJson(reply, status),
  });
};
