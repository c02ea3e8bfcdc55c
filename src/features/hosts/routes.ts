import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { needs, openFor } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody } from '../../http/errors.ts';
import { sendItems, sendJson, whenReady } from '../../http/json.ts';
import { ifMatchHeader, readIfMatch, requireTime } from '../../http/text-forms.ts';
import { HostReport } from '../../kit/host-report/report-schema.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { optionalText } from '../../kit/shape.ts';
import { toTimeOrNull, toTimeText } from '../../kit/time.ts';
import type { Fleet } from './fleet.ts';
import { readHistory, readHistorySpan } from './history.ts';
import type { CommandQueue, SentCommand } from './host-commands.ts';
import type { Hub } from './hub.ts';
import { type HostKeeper, hostKind, type KnownHost } from './kind.ts';
import { rings } from './rings.ts';
import {
  ChangedHost,
  EnrolledHost,
  Enrolment,
  HostCode,
  HostDetails,
  HostHistory,
  HostList,
  HostParams,
  HostProcessList,
  HostResult,
  NewHost,
  ReportReceipt,
  ShownHost,
} from './schema.ts';

interface RouteParts {
  hub: Hub;
  fleet: Fleet;
  keeper: HostKeeper;
  commands: CommandQueue;
  clock: () => Date;
}

const path = '/api/hosts';

const withVersion = { ETag: "The host's version, in quotes." };

/** Milliseconds until an idle connection of a host is closed. */
const keptMs = 30_000;

export const createHostRoutes = (parts: RouteParts): Route[] => [
  createListRoute(parts),
  createInviteRoute(parts),
  createEnrolRoute(parts),
  createReadRoute(parts),
  createChangeRoute(parts),
  createDeleteRoute(parts),
  createReportRoute(parts),
  createResultRoute(parts),
  createHistoryRoute(parts),
  createProcessRoute(parts),
];

const createListRoute = ({ fleet, hub, keeper }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path,
    ...hostKind.reading,
    summary: 'List the hosts that report to this server',
    schema: { operationId: 'listHosts', response: { 200: HostList } },
    handler: (_request, reply) =>
      whenReady(reply, fleet.catchUp(), () => sendItems(reply, keeper.list(), (known) => hub.show(known))),
  });

const createReadRoute = ({ fleet, hub, keeper }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: `${path}/:name`,
    ...hostKind.reading,
    summary: 'Get a host',
    headers: { response: withVersion },
    schema: { operationId: 'getHost', params: HostParams, response: { 200: HostDetails, 404: ErrorBody } },
    handler: async ({ params: { name } }, reply) => {
      await fleet.catchUp();
      return sendHost(reply, hub, keeper.require(name));
    },
  });

const createDeleteRoute = ({ hub, keeper }: RouteParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: `${path}/:name`,
    ...hostKind.changing,
    summary: 'Delete a host with its history; its key is refused immediately',
    schema: {
      operationId: 'deleteHost',
      params: HostParams,
      response: { 200: ShownHost, 404: ErrorBody, 409: ErrorBody },
    },
    handler: async (request, reply) => {
      const { name } = request.params;
      const shown = hub.show(keeper.requireRuntime(name));
      await hub.delete(name, callerOf(request));
      return sendJson(reply, shown);
    },
  });

const createInviteRoute = ({ hub }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path,
    ...needs('hosts:create'),
    summary: 'Create a code that enrols a host; the code works once, within 30 minutes',
    schema: { operationId: 'createHost', body: NewHost, response: { 201: HostCode, 409: ErrorBody } },
    handler: async (request, reply) => {
      assertOwnMembers(request.body, NewHost);
      const { code, expiresAt } = await hub.invite(request.body, callerOf(request));
      sendJson(reply.code(201), { name: request.body.name, code, expiresAt: toTimeText(expiresAt) });
    },
  });

const createEnrolRoute = ({ hub }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: `${path}/enrol`,
    ...openFor('hosts:report'),
    staysOpen: true,
    summary: 'Exchange a code for the key of a host; the code cannot be used again',
    compressedBody: true,
    schema: {
      operationId: 'enrolHost',
      body: Enrolment,
      response: { 201: EnrolledHost, 403: ErrorBody, 409: ErrorBody },
    },
    handler: async ({ body: { code } }, reply) => sendJson(reply.code(201), await hub.enrol(code)),
  });

const createChangeRoute = ({ hub, keeper }: RouteParts): Route =>
  defineRoute({
    method: 'PATCH',
    path: `${path}/:name`,
    ...needs('settings:write'),
    summary: 'Change the tags, aliases, note and dependencies of a host',
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'changeHost',
      params: HostParams,
      body: ChangedHost,
      response: { 200: HostDetails, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const { body, params } = request;
      assertOwnMembers(body, ChangedHost);
      keeper.requireRuntime(params.name);
      const known = await keeper.put(params.name, body, callerOf(request), readIfMatch(request.headers));
      sendHost(reply, hub, known);
    },
  });

const createReportRoute = ({ hub, commands }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: `${path}/:name/readings`,
    ...needs('hosts:report'),
    summary: 'Report the readings of a host, about every ten seconds; needs the key of the host',
    compressedBody: true,
    schema: {
      operationId: 'reportHost',
      params: HostParams,
      body: HostReport,
      response: { 200: ReportReceipt, 403: ErrorBody, 413: ErrorBody, 415: ErrorBody, 429: ErrorBody },
    },
    handler: async (request, reply) => {
      const { body, params } = request;
      requireTime('time', body.time);
      for (const [index, { time }] of (body.kept ?? []).entries()) requireTime(`kept.${index}.time`, time);
      const { name, at } = await hub.report(params.name, callerOf(request), body);
      keepConnection(request, reply);
      sendJson(reply, {
        received: true,
        name,
        time: toTimeText(at),
        ...hub.listWatches(name, body.watchesId),
        ...toCommands(await commands.take(name)),
      });
    },
  });

/** Sends a host as a response. The ETag is the version of its runtime setting. */
const sendHost = (reply: FastifyReply, hub: Hub, known: KnownHost): void =>
  sendJson(known.setting ? reply.header('etag', `"${known.setting.version}"`) : reply, hub.showDetails(known));

/** Returns the commands as a member of the response. Omits the member if there are none. */
const toCommands = (commands: SentCommand[]): { commands?: SentCommand[] } => (commands.length > 0 ? { commands } : {});

const createResultRoute = ({ hub, clock }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: `${path}/:name/results`,
    ...needs('hosts:report'),
    summary: 'Report the result of a command; needs the key of the host',
    compressedBody: true,
    largeBody: true,
    textsAsSent: true,
    schema: {
      operationId: 'reportHostResult',
      params: HostParams,
      body: HostResult,
      response: { 200: ReportReceipt, 403: ErrorBody, 404: ErrorBody, 415: ErrorBody, 429: ErrorBody },
    },
    handler: async (request, reply) => {
      const { id, rows = [], truncated = false, error } = request.body;
      const result = error === undefined ? { rows: rows as Record<string, unknown>[], truncated } : { error };
      const name = await hub.settleCommand(request.params.name, callerOf(request), id, result);
      sendJson(reply, { received: true, name, time: toTimeText(clock().getTime()) });
    },
  });

/** Keeps the connection of a host open until its next report. Other connections are closed sooner. */
const keepConnection = ({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void => {
  reply.header('keep-alive', `timeout=${keptMs / 1000}`);
  // Node sets its own timeout when the response finishes.
  reply.raw.once('finish', () => setImmediate(() => socket.setTimeout(keptMs)));
};

const HistoryQuery = Type.Object({
  from: optionalText(
    'Start of the range: RFC 3339 with an offset, or Unix seconds. Default: an hour before `until`.',
    '2026-01-31T09:30:00Z',
  ),
  until: optionalText('End of the range, in the form of `from`. Default: now.', '2026-01-31T10:30:00Z'),
  step: Type.Optional(
    Type.Integer({
      enum: rings.map(({ step }) => step),
      description:
        'Step in seconds: 10 for the last hour, 60 for 24 hours, 600 for 90 days. Default: the shortest step that covers `from`.',
    }),
  ),
});

const createHistoryRoute = ({ fleet, keeper, clock }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: `${path}/:name/history`,
    ...needs('hosts:read'),
    summary: "Get the history of a host's readings, up to 90 days",
    schema: {
      operationId: 'getHostHistory',
      params: HostParams,
      querystring: HistoryQuery,
      response: { 200: HostHistory, 404: ErrorBody },
    },
    handler: async ({ params: { name }, query }, reply) => {
      keeper.require(name);
      const span = readHistorySpan(query, Math.floor(clock().getTime() / 1000));
      return sendJson(reply, await readHistory(fleet, name, span));
    },
  });

const createProcessRoute = ({ fleet, keeper }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: `${path}/:name/processes`,
    ...needs('hosts:read'),
    summary: 'List the processes of a host that used the most memory in the last minute',
    schema: {
      operationId: 'listHostProcesses',
      params: HostParams,
      response: { 200: HostProcessList, 404: ErrorBody },
    },
    handler: async ({ params: { name } }, reply) => {
      keeper.require(name);
      await fleet.catchUp();
      const { at, data = [] } = fleet.find(name)?.processes ?? {};
      return sendJson(reply, { time: toTimeOrNull(at), count: data.length, data });
    },
  });
