import { needs } from '../../auth/access.ts';
import { HttpError, requireKnown } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { createMadeRoutes, toMadeFacts } from '../../kit/made-routes.ts';
import type { PutOptions, SettingStore } from '../../kit/offers.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { findRoutesProblem, findWatchProblem, type KnownWatch, toKnownWatch } from './definitions.ts';
import { Watch, WatchList, WatchParams, WatchSettings, WatchTrial } from './schema.ts';
import type { Watcher } from './watcher.ts';

/** As settings made at run time. */
export const watchKind = 'watch';

/** Bounds of watches made at run time. */
const limits: PutOptions = { most: { count: 1000, plural: 'watches' } };

interface RouteParts {
  watcher: Watcher;
  list(): readonly KnownWatch[];
  /** Undefined where nothing can be stored. */
  settings: SettingStore | undefined;
}

const kind = {
  path: '/api/watches',
  params: WatchParams,
  shape: Watch,
  noun: 'watch',
  reading: needs('watches:read'),
  changing: needs('settings:write'),
};
const { list, read, create, replace, remove } = createMadeRoutes<Watch>(kind);

export const createWatchRoutes = (parts: RouteParts): Route[] => [
  list(
    { operationId: 'listWatches', summary: 'List watches with their last readings', response: WatchList },
    () => parts.list(),
    (watch) => toWatch(watch, parts),
  ),
  read({ operationId: 'getWatch', summary: 'One watch' }, (name) => toWatch(requireWatch(parts, name), parts)),
  createTestRoute(parts),
  ...(parts.settings ? createChangingRoutes(parts, parts.settings) : []),
];

const createTestRoute = ({ watcher }: RouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/watches/test',
    ...needs('settings:write'),
    summary: 'Say what a watch would find now, without keeping it',
    schema: { operationId: 'testWatch', body: WatchSettings, response: { 200: WatchTrial } },
    handler: async ({ body }, reply) => {
      const things = await watcher.try(toKnownWatch(checkWatch(body), 'made'));
      return sendJson(reply, { things });
    },
  });

const createChangingRoutes = (parts: RouteParts, settings: SettingStore): Route[] => [
  create({ operationId: 'createWatch', summary: 'Watch something', body: WatchSettings }, async (given, by) => {
    const watch = checkWatch(given);
    const known = parts.list().find((one) => one.settings.name === watch.name);
    if (known && known.origin !== 'default') throw new HttpError('wrong-state', `There is a watch ${watch.name}`);
    const made = await settings.put(watchKind, watch.name, watch, by, [0], limits).catch((error) => {
      throw error instanceof StoreConflict ? new HttpError('wrong-state', `There is a watch ${watch.name}`) : error;
    });
    return toWatch(toKnownWatch(made.value, 'made', made), parts);
  }),
  replace(
    { operationId: 'replaceWatch', summary: 'Replace a watch that was made at run time', body: WatchSettings },
    async (name, given, { by, expected }) => {
      requireMade(parts, name);
      const watch = checkWatch(given);
      if (watch.name !== name) throw new HttpError('invalid', 'name must be that of the path');
      const made = await settings.put(watchKind, name, watch, by, expected, limits);
      return toWatch(toKnownWatch(made.value, 'made', made), parts);
    },
  ),
  remove(
    { operationId: 'deleteWatch', summary: 'Watch something no longer; what fires of it is resolved' },
    async (name, { by, expected }) => {
      const watch = toWatch(requireMade(parts, name), parts);
      await settings.delete(watchKind, name, by, expected);
      return watch;
    },
  ),
];

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

/** The worst first. */
const order: readonly Watch['state'][] = ['firing', 'cannot check', 'pending', 'ok'];

const toWatch = (watch: KnownWatch, { watcher }: RouteParts): Watch => {
  const { settings, origin, made } = watch;
  const { things, isHere, isChecked } = watcher.find(settings.name);
  const [worst] = things.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const unchecked = settings.enabled === false ? 'paused' : isHere ? (isChecked ? 'ok' : 'new') : 'elsewhere';
  return {
    name: settings.name,
    origin,
    settings: { ...settings },
    state: settings.enabled === false ? 'paused' : (worst?.state ?? unchecked),
    since: worst?.since ?? null,
    things,
    ...toMadeFacts(made),
  };
};
