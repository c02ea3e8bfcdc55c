import Type, { type Static } from 'typebox';
import type { SharedIncident } from '../../../kit/incident.ts';
import { findSeverity, rankOf, severities } from '../../../kit/severity.ts';
import { readOwnTimeZone } from '../../../lib/time-zone.ts';
import { createFilterTest } from '../../../lib/wildcards.ts';
import { parseHours } from '../oncall/hours.ts';

const mostRules = 200;

const pattern = (example: string, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, examples: [example], description }));

const policyName = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 64, examples: ['ops'] }), Type.Null()], { description });

const EscalationRule = Type.Object(
  {
    source: pattern('backup*', 'Source, ignoring case; `*` matches any text.'),
    hostname: pattern('db-*', 'Host name, ignoring case; `*` matches any text.'),
    level: Type.Optional(
      Type.String({ examples: ['ERROR'], description: `Lowest severity: ${severities.join(', ')}.` }),
    ),
    labels: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 256, examples: ['db'] }), {
        maxProperties: 16,
        description: 'Labels with their values, ignoring case; `*` matches any text.',
      }),
    ),
    hours: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        examples: ['Mon-Fri 08:00-18:00 Europe/Berlin'],
        description: 'Hours in which the incident must open.',
      }),
    ),
    policy: policyName('Policy of the incidents; `null` for none.'),
  },
  { additionalProperties: false },
);

/** Schema of the setting `escalationRouting`. Hours and names are checked later. */
export const EscalationRoutingSettings = Type.Object(
  {
    rules: Type.Array(EscalationRule, { maxItems: mostRules, description: 'The first matching rule applies.' }),
    default: Type.Optional(policyName('Policy of all other incidents; none by default.')),
  },
  { additionalProperties: false },
);
export type EscalationRoutingSettings = Static<typeof EscalationRoutingSettings>;

/** Returns the policy of an incident that opens at `now`, in Unix milliseconds. Null for none. */
export type RouteIncident = (incident: SharedIncident, now: number) => string | null;

/** Compiles the routing. Throws an Error that names the rule. */
export const compileRouting = (settings: EscalationRoutingSettings): RouteIncident => {
  const rules = settings.rules.map((rule, index) => {
    try {
      return { policy: rule.policy, matches: compileRule(rule) };
    } catch (error) {
      throw new Error(`rules[${index}]: ${(error as Error).message}`);
    }
  });
  return (incident, now) =>
    (rules.find(({ matches }) => matches(incident, now)) ?? { policy: settings.default ?? null }).policy;
};

const compileRule = ({
  source,
  hostname,
  level,
  labels = {},
  hours,
}: Static<typeof EscalationRule>): ((incident: SharedIncident, now: number) => boolean) => {
  const lowest = level === undefined ? undefined : findSeverity(level);
  if (level !== undefined && lowest === undefined) {
    throw new Error(`level must be one of ${severities.join(', ')}, not ${JSON.stringify(level)}`);
  }
  const isSource = source === undefined ? undefined : createFilterTest(source);
  const isHost = hostname === undefined ? undefined : createFilterTest(hostname);
  const isLabel = Object.entries(labels).map(([name, value]) => [name, createFilterTest(value)] as const);
  const within = hours === undefined ? undefined : parseHours(hours, readOwnTimeZone());
  return (incident, now) =>
    (isSource?.(incident.source) ?? true) &&
    (isHost?.(incident.hostname) ?? true) &&
    (lowest === undefined || rankOf(incident.level) <= rankOf(lowest)) &&
    isLabel.every(([name, matches]) => {
      const known = incident.labels ?? {};
      return Object.hasOwn(known, name) && matches(known[name] ?? '');
    }) &&
    (within?.isWithin(now) ?? true);
};

/** Returns the names of all policies in the routing. */
export const listRouted = ({ rules, default: other }: EscalationRoutingSettings): string[] => [
  ...new Set([...rules.map(({ policy }) => policy), other ?? null].filter((name) => name !== null)),
];
