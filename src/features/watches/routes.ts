import { isDeepStrictEqual } from 'node:util';
import { HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import type { AvailabilitySource } from '../../kit/availability.ts';
import { createBadgeRoute } from '../../kit/badge.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { toSettingFacts } from '../../kit/setting-kind.ts';
import { createSettingRoutes } from '../../kit/setting-routes.ts';
import { type WatchKeeper, watchKind } from './kind.ts';
import type { KnownWatch } from './known-watch.ts';
import { type Watch, WatchList, WatchSettings, WatchTrial } from './schema.ts';
import { keepWatchSecrets, listSecrets, withoutSecrets } from './watch-secrets.ts';
import type { Watcher } from './watcher.ts';

interface WatchParts {
  keeper: WatchKeeper;
  watcher: Watcher;
  availability: AvailabilitySource;
  clock: () => Date;
}

export const createWatchRoutes = (parts: WatchParts): Route[] => {
  const { keeper, watcher } = parts;
  const toShown = (watch: KnownWatch): Watch => toWatch(watch, watcher);
  const { list, read, create, replace, remove } = createSettingRoutes(watchKind, keeper, toShown);
  return [
    list({ operationId: 'listWatches', summary: 'List watches with their last readings', response: WatchList }),
    read({ operationId: 'getWatch', summary: 'Get a watch with its last readings' }),
    createTestRoute(parts),
    toBadgeRoute(parts),
    create({ operationId: 'createWatch', summary: 'Create a watch', body: WatchSettings }, async (given, by) =>
      toShown(await keeper.create(given.name, keepWatchSecrets(given, undefined), by)),
    ),
    replace(
      { operationId: 'replaceWatch', summary: 'Replace a runtime watch', body: WatchSettings },
      async (name, given, { by, expected }) => {
        keeper.requireRuntime(name);
        if (given.name !== name) throw new HttpError('invalid', 'name must be the name in the path');
        return toShown(await keeper.put(name, given, by, expected));
      },
    ),
    remove({ operationId: 'deleteWatch', summary: 'Delete a watch and resolve its alerts' }),
  ];
};

const createTestRoute = ({ keeper, watcher }: WatchParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/watches/test',
    ...watchKind.changing,
    summary: 'Test a watch: check once, without storing the watch',
    schema: { operationId: 'testWatch', body: WatchSettings, response: { 200: WatchTrial } },
    handler: async ({ body }, reply) => {
      assertOwnMembers(body, WatchSettings);
      const things = await watcher.try(findTried(keeper, body));
      return sendJson(reply, { things });
    },
  });

/**
 * Returns the watch to test. If the settings equal those of a known watch as shown in responses, returns that watch,
 * even if only the config file may define it.
 */
const findTried = (keeper: WatchKeeper, given: WatchSettings): KnownWatch => {
  const known = keeper.find(given.name);
  if (known && isDeepStrictEqual(given, withoutSecrets(known.settings))) return known;
  return keeper.try(given.name, keepWatchSecrets(given, known?.setting && known.settings));
};

const toBadgeRoute = ({ keeper, watcher, availability, clock }: WatchParts): Route =>
  createBadgeRoute({
    path: watchKind.path,
    parameter: 'watch',
    noun: 'watch',
    operationId: 'getWatchBadge',
    right: watchKind.reading.right,
    availability,
    clock,
    findOpen: (name) => {
      const watch = keeper.find(name);
      if (watch?.settings.open !== true) return undefined;
      const { state } = toWatch(watch, watcher);
      if (state === 'firing') return { text: 'down', colour: 'bad' };
      if (state === 'ok' || state === 'pending') return { text: 'up', colour: 'good' };
      return { text: state === 'paused' ? 'paused' : 'unknown', colour: 'none' };
    },
  });

/** States of a watch, worst first. */
const order: readonly Watch['state'][] = ['firing', 'cannot check', 'pending', 'ok'];

const toWatch = ({ settings, origin, setting }: KnownWatch, watcher: Watcher): Watch => {
  const { things, isHere, isChecked } = watcher.find(settings.name);
  const [worst] = things.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const unchecked = settings.enabled === false ? 'paused' : isHere ? (isChecked ? 'ok' : 'new') : 'elsewhere';
  return {
    name: settings.name,
    origin,
    settings: withoutSecrets(settings),
    hidden: listSecrets(settings),
    state: settings.enabled === false ? 'paused' : (worst?.state ?? unchecked),
    since: worst?.since ?? null,
    things,
    ...toSettingFacts(setting),
  };
};
