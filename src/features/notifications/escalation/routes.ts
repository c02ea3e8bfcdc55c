import { callerOf } from '../../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import { putConditionHeaders, readPutCondition } from '../../../http/text-forms.ts';
import { assertOwnMembers } from '../../../kit/own-members.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { toSettingFacts } from '../../../kit/setting-kind.ts';
import { createSettingRoutes, sendSetting } from '../../../kit/setting-routes.ts';
import { toDurationWords } from '../../../lib/duration.ts';
import { findUnknownTargets, type PolicyNames, stop } from './policy.ts';
import {
  type KnownPolicy,
  PolicyBody,
  type PolicyKeeper,
  PolicyList,
  policyKind,
  type ShownPolicy,
} from './policy-kind.ts';
import { EscalationRoutingSettings, listRouted } from './routing.ts';
import { type KnownRouting, type RoutingKeeper, routingKind, routingName, ShownRouting } from './routing-kind.ts';

interface EscalationRouteParts {
  policies: PolicyKeeper;
  routing: RoutingKeeper;
  listNames(): PolicyNames;
  /** Returns the policy derived from the destinations' own rules. Empty without such rules. */
  derive(): ShownPolicy[];
}

export const createEscalationRoutes = ({ policies, routing, listNames, derive }: EscalationRouteParts): Route[] => {
  const show = (known: KnownPolicy): ShownPolicy => toShownPolicy(known, listNames());
  const { read, put, remove } = createSettingRoutes(policyKind, policies, show);
  return [
    defineRoute({
      method: 'GET',
      path: policyKind.path,
      ...policyKind.reading,
      summary: 'List escalation policies, including the policy that shows the rules of destinations',
      schema: { operationId: 'listEscalationPolicies', response: { 200: PolicyList } },
      handler: async (_request, reply) => {
        const data = [...policies.list().map(show), ...derive()];
        return sendJson(reply, { count: data.length, data });
      },
    }),
    read({ operationId: 'getEscalationPolicy', summary: 'Get an escalation policy' }),
    put(
      {
        operationId: 'putEscalationPolicy',
        summary: 'Create or replace an escalation policy',
        body: PolicyBody,
      },
      ({ name: _, ...settings }) => settings,
    ),
    remove(
      { operationId: 'deleteEscalationPolicy', summary: 'Delete an unused escalation policy' },
      async (name, { by, expected }) => {
        const known = policies.requireRuntime(name);
        const use = findUse(name, policies, routing);
        if (use !== undefined) {
          throw new HttpError('wrong-state', `Policy ${name} ${use}`);
        }
        await policies.delete(name, by, expected);
        return show(known);
      },
    ),
    createRoutingRoute(routing),
    createPutRoutingRoute(routing),
  ];
};

const toShownPolicy = (
  { name, settings, setting, repeat, steps, next }: KnownPolicy,
  names: PolicyNames,
): ShownPolicy => ({
  name,
  origin: setting ? 'made' : 'config',
  steps: settings.steps.map(({ notify, wait }, index) => ({
    notify,
    wait: wait ?? toDurationWords(steps[index]?.waitMs ?? 0),
  })),
  repeat,
  then: next ?? stop,
  unknown: findUnknownTargets({ steps }, names),
  notes: [],
  ...toSettingFacts(setting),
});

/** Describes the setting that refers to a policy, and the remedy. Undefined if no setting refers to it. */
const findUse = (name: string, policies: PolicyKeeper, routing: RoutingKeeper): string | undefined => {
  const known = routing.find(routingName);
  if (known && listRouted(known.settings).includes(name))
    return 'is used by the routing: remove the policy there first';
  const other = policies.list().find(({ next }) => next === name);
  return other && `follows policy ${other.name}: change "then" of policy ${other.name} first`;
};

const withVersion = { ETag: "The routing's version, in quotes." };

const createRoutingRoute = (routing: RoutingKeeper): Route =>
  defineRoute({
    method: 'GET',
    path: routingKind.path,
    ...routingKind.reading,
    summary: 'Get the routing: the escalation policy of each incident',
    headers: { response: withVersion },
    schema: { operationId: 'getEscalationRouting', response: { 200: ShownRouting } },
    handler: async (_request, reply) => sendSetting(reply, toShownRouting(routing.require(routingName))),
  });

const createPutRoutingRoute = (routing: RoutingKeeper): Route =>
  defineRoute({
    method: 'PUT',
    path: routingKind.path,
    ...routingKind.changing,
    summary: 'Replace the routing',
    headers: { request: putConditionHeaders, response: withVersion },
    schema: {
      operationId: 'putEscalationRouting',
      body: EscalationRoutingSettings,
      response: { 200: ShownRouting, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      assertOwnMembers(request.body, EscalationRoutingSettings, ShownRouting);
      const { rules, default: other = null } = request.body;
      const expected = readPutCondition(request.headers, routing.findStored(routingName) === undefined);
      const known = await routing.put(routingName, { rules, default: other }, callerOf(request), expected);
      return sendSetting(reply, toShownRouting(known));
    },
  });

const toShownRouting = ({ settings, isConfigured, setting }: KnownRouting) => ({
  rules: settings.rules,
  default: settings.default ?? null,
  origin: setting ? ('made' as const) : isConfigured ? ('config' as const) : ('default' as const),
  ...toSettingFacts(setting),
});
