import type { FastifyReply } from 'fastify';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError, requireKnown } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { ifMatchHeader, readIfMatch } from '../../http/text-forms.ts';
import { setMadeVersion, toMadeFacts } from '../made-routes.ts';
import type { SettingStore } from '../offers.ts';
import { assertOwnMembers } from '../own-members.ts';
import { defineRoute, type Route } from '../route.ts';
import { findRoutesProblem, findWatchProblem, type KnownWatch, toKnownWatch } from './definitions.ts';
import { Watch, WatchList, WatchParams, WatchSettings, WatchTrial } from './schema.ts';
import type { Watcher } from './watcher.ts';

/** As settings made at run time. */
export const watchKind = 'watch';

/** How many can be made at run time. */
const mostMade = 1000;

interface RouteParts {
  watcher: Watcher;
  list(): readonly KnownWatch[];
  /** Undefined where nothing can be stored. */
  settings: SettingStore | undefined;
}

const withVersion = { ETag: "The watch's version, in quotes." };

export const createWatchRoutes = (parts: RouteParts): Route[] => [
  createListRoute(parts),
  createReadRoute(parts),
  createTestRoute(parts),
  ...(parts.settings
    ? [
        createAddRoute(parts, parts.settings),
        createReplaceRoute(parts, parts.settings),
        createRemoveRoute(parts, parts.settings),
      ]
    : []),
];

const createListRoute = ({ watcher, list }: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/watches',
    access: 'admin',
    scope: 'incidents:write',
    summary: 'List watches with their last readings',
    schema: { operationId: 'listWatches', response: { 200: WatchList } },
    handler: async (_request, reply) => {
      const data = list().map((watch) => toWatch(watch, watcher));
      return sendJson(reply, { count: data.length, data });
    },
  });

const createReadRoute = (parts: RouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/watches/:watch',
    access: 'admin',
    summary: 'One watch',
    headers: { response: withVersion },
    schema: { operationId: 'getWatch', params: WatchParams, response: { 200: Watch, 404: ErrorBody } },
    handler: async ({ params: { watch: name } }, reply) => sendWatch(reply, requireWatch(parts, name), parts),
  });

const createTestRoute = ({ watcher }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/watches/test',
    access: 'admin',
    summary: 'Say what a watch would find now, without keeping it',
    schema: { operationId: 'testWatch', body: WatchSettings, response: { 200: WatchTrial } },
    handler: async ({ body }, reply) => {
      const things = await watcher.try(toKnownWatch(checkWatch(body), 'made'));
      return sendJson(reply, { things });
    },
  });

const createAddRoute = (parts: RouteParts, settings: SettingStore): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/watches',
    access: 'admin',
    summary: 'Watch something',
    headers: { response: withVersion },
    schema: { operationId: 'createWatch', body: WatchSettings, response: { 201: Watch, 409: ErrorBody } },
    handler: async (request, reply) => {
      const watch = checkWatch(request.body);
      const known = parts.list().find((one) => one.settings.name === watch.name);
      if (known && known.origin !== 'default') throw new HttpError('wrong-state', `There is a watch ${watch.name}`);
      if (settings.list(watchKind).length >= mostMade) {
        throw new HttpError('wrong-state', `There are ${mostMade} watches: delete some first`);
      }
      const made = await settings.put(watchKind, watch.name, watch, callerOf(request), [0]);
      return sendWatch(reply.code(201), toKnownWatch(made.value, 'made', made), parts);
    },
  });

const createReplaceRoute = (parts: RouteParts, settings: SettingStore): Route =>
  defineRoute({
    method: 'PUT',
    path: '/api/watches/:watch',
    access: 'admin',
    summary: 'Replace a watch that was made at run time',
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'replaceWatch',
      params: WatchParams,
      body: WatchSettings,
      response: { 200: Watch, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      const { watch: name } = request.params;
      requireMade(parts, name);
      const watch = checkWatch(request.body);
      if (watch.name !== name) throw new HttpError('invalid', 'name must be that of the path');
      const made = await settings.put(watchKind, name, watch, callerOf(request), expected);
      return sendWatch(reply, toKnownWatch(made.value, 'made', made), parts);
    },
  });

const createRemoveRoute = (parts: RouteParts, settings: SettingStore): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/watches/:watch',
    access: 'admin',
    summary: 'Watch something no longer; what fires of it is resolved',
    headers: { request: ifMatchHeader },
    schema: {
      operationId: 'deleteWatch',
      params: WatchParams,
      response: { 200: Watch, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      const { watch: name } = request.params;
      const watch = toWatch(requireMade(parts, name), parts.watcher);
      await settings.delete(watchKind, name, callerOf(request), expected);
      return sendJson(reply, watch);
    },
  });

/** @throws HttpError */
const checkWatch = (watch: WatchSettings): WatchSettings => {
  assertOwnMembers(watch, WatchSettings);
  const problem = findWatchProblem(watch) ?? findRoutesProblem(watch);
  if (problem !== undefined) throw new HttpError('invalid', problem);
  return watch;
};

const requireWatch = ({ list }: RouteParts, name: string): KnownWatch =>
  requireKnown(
    list().find(({ settings }) => settings.name === name),
    'Watch',
    name,
    '/api/watches',
  );

const requireMade = (parts: RouteParts, name: string): KnownWatch => {
  const watch = requireWatch(parts, name);
  const { origin } = watch;
  if (origin === 'config') throw new HttpError('wrong-state', `${name} is in the config file: change it there`);
  if (origin === 'default') {
    throw new HttpError('wrong-state', `${name} is a default watch: create one with its name to replace it`);
  }
  return watch;
};

const sendWatch = (reply: FastifyReply, watch: KnownWatch, { watcher }: RouteParts): void =>
  sendJson(setMadeVersion(reply, watch.made), toWatch(watch, watcher));

/** The worst first. */
const order: readonly Watch['state'][] = ['firing', 'cannot check', 'pending', 'ok'];

const toWatch = (watch: KnownWatch, watcher: Watcher): Watch => {
  const { settings, origin, made } = watch;
  const { things, isHere, isChecked } = watcher.find(settings.name);
  const [worst] = things.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const unchecked = settings.enabled === false ? 'paused' : isHere ? (isChecked ? 'ok' : 'new') : 'elsewhere';
  return {
    ...{ name: settings.name, origin, settings: { ...settings } },
    state: settings.enabled === false ? 'paused' : (worst?.state ?? unchecked),
    since: worst?.since ?? null,
    things,
    ...toMadeFacts(made),
  };
};
