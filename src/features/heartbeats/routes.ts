import type { FastifyRequest } from 'fastify';
import { needs } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody } from '../../http/errors.ts';
import { sendItems, sendJson } from '../../http/json.ts';
import type { AvailabilitySource } from '../../kit/availability.ts';
import { createBadgeRoute } from '../../kit/badge.ts';
import type { Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { createSettingRoutes, sendSetting } from '../../kit/setting-routes.ts';
import { HeartbeatBody } from './definition.ts';
import type { HeartbeatState } from './heartbeat-state.ts';
import type { HeartbeatStatus } from './judge.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import { heartbeatKind, type KnownHeartbeat } from './kind.ts';
import { Heartbeat, HeartbeatList, HeartbeatParams, HeartbeatQuery, HeartbeatRunList, RunQuery } from './schema.ts';
import { toRecentRuns, toRun } from './shown.ts';
import type { HeartbeatStore } from './store.ts';

interface HeartbeatParts extends Pick<Parts, 'authorize' | 'clock'> {
  store: HeartbeatStore;
  keeper: HeartbeatKeeper;
  availability: AvailabilitySource;
  show(known: KnownHeartbeat, isForAdmin: boolean): Heartbeat;
}

const { reading, changing } = heartbeatKind;
const params = HeartbeatParams;

export const createHeartbeatRoutes = (parts: HeartbeatParts): Route[] => {
  const { keeper, show, authorize } = parts;
  const { read, put, remove } = createSettingRoutes(heartbeatKind, keeper, (known, request) =>
    show(known, isAdmin(request, authorize)),
  );
  return [
    createListRoute(parts),
    read({ operationId: 'getHeartbeat', summary: 'Get a heartbeat' }),
    createRunsRoute(parts),
    toBadgeRoute(parts),
    createPauseRoute(parts, 'pause', 'Pause a heartbeat: no pings are expected until the heartbeat is resumed'),
    createPauseRoute(parts, 'resume', 'Resume a heartbeat: pings are expected again'),
    put(
      {
        operationId: 'putHeartbeat',
        summary: 'Create a heartbeat or replace its definition',
        body: HeartbeatBody,
        ignores: Heartbeat,
      },
      pickBody,
    ),
    remove({ operationId: 'deleteHeartbeat', summary: 'Delete a heartbeat with its runs, and resolve its alert' }),
  ];
};

const createListRoute = ({ keeper, store, show, authorize }: HeartbeatParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/heartbeats',
    ...reading,
    summary: 'List heartbeats by name',
    schema: { operationId: 'listHeartbeats', querystring: HeartbeatQuery, response: { 200: HeartbeatList } },
    handler: (request, reply) => {
      const isForAdmin = isAdmin(request, authorize);
      const { runs } = request.query;
      const toShown = (known: KnownHeartbeat): Heartbeat => ({
        ...show(known, isForAdmin),
        ...(runs > 0 && { recentRuns: toRecentRuns(findState(store, known), runs) }),
      });
      return sendItems(reply, keeper.list(), toShown);
    },
  });

const createRunsRoute = ({ keeper, store }: HeartbeatParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/heartbeats/:name/runs',
    ...reading,
    summary: 'List the last runs of a heartbeat, newest first',
    schema: {
      operationId: 'listHeartbeatRuns',
      params,
      querystring: RunQuery,
      response: { 200: HeartbeatRunList, 404: ErrorBody },
    },
    handler: async ({ params: { name }, query: { limit } }, reply) => {
      const runs = findState(store, keeper.require(name))?.runs ?? [];
      const data = runs.slice(-limit).toReversed().map(toRun);
      return sendJson(reply, { count: data.length, data });
    },
  });

const toBadgeRoute = ({ keeper, show, availability, clock }: HeartbeatParts): Route =>
  createBadgeRoute({
    path: '/api/heartbeats',
    parameter: 'name',
    noun: 'heartbeat',
    operationId: 'getHeartbeatBadge',
    right: reading.right,
    availability,
    clock,
    findOpen: (name) => {
      const known = keeper.find(name);
      if (known?.definition.open !== true) return undefined;
      const { state } = show(known, false);
      return { text: state, colour: colours[state] };
    },
  });

const colours = {
  new: 'none',
  up: 'good',
  running: 'busy',
  late: 'warning',
  down: 'bad',
  paused: 'none',
} as const satisfies Record<HeartbeatStatus, string>;

const createPauseRoute = (parts: HeartbeatParts, type: 'pause' | 'resume', summary: string): Route =>
  defineRoute({
    method: 'POST',
    path: `/api/heartbeats/:name/${type}`,
    ...changing,
    summary,
    schema: { operationId: `${type}Heartbeat`, params, response: { 200: Heartbeat, 404: ErrorBody } },
    handler: async (request, reply) => {
      const { keeper, store, show, clock } = parts;
      const known = keeper.require(request.params.name);
      const { name, since } = known;
      await store.append({ type, name, since, at: clock().getTime(), by: callerOf(request) });
      return sendSetting(reply, show(known, true));
    },
  });

/** Finds the state of a heartbeat. Ignores the state of a deleted heartbeat with the same name. */
const findState = (store: HeartbeatStore, { name, since }: KnownHeartbeat): HeartbeatState | undefined => {
  const state = store.find(name);
  return state?.since === since ? state : undefined;
};

const isAdmin = (request: FastifyRequest, authorize: Parts['authorize']): boolean =>
  authorize(request, needs('settings:write')) === undefined;

const pickBody = (body: HeartbeatBody): HeartbeatBody =>
  Object.fromEntries(Object.entries(body).filter(([key]) => Object.hasOwn(HeartbeatBody.properties, key)));
