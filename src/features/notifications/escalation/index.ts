import { HttpError } from '../../../http/errors.ts';
import type { Concern } from '../../../kit/feature.ts';
import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentEscalation } from '../../../kit/incident-responses.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';
import type { Route } from '../../../kit/route.ts';
import { SettingKeeper } from '../../../kit/setting-keeper.ts';
import type { SettingStore } from '../../../kit/setting-store.ts';
import type { SilenceSource } from '../../../kit/silence-source.ts';
import { toTimeOrNull, toTimeText } from '../../../kit/time.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { Rotations } from '../oncall/rotations.ts';
import type { People } from '../people/people.ts';
import type { DestinationSettings } from '../settings.ts';
import { derivePolicy } from './derived.ts';
import { Escalations } from './escalations.ts';
import { placeOf } from './next-step.ts';
import { type EscalationPolicySettings, findChainProblem, findUnknownTargets, type PolicyNames } from './policy.ts';
import { policyKind } from './policy-kind.ts';
import { createEscalationRoutes } from './routes.ts';
import type { EscalationRoutingSettings } from './routing.ts';
import { defaultRouting, routingKind, routingName } from './routing-kind.ts';
import { RoutingStart } from './routing-start.ts';
import { findRoutingProblems, toUnknownTarget } from './settings.ts';

interface EscalationSettings {
  escalationPolicies: readonly EscalationPolicySettings[];
  escalationRouting?: EscalationRoutingSettings | undefined;
}

interface OpenParts {
  settings: SettingStore;
  configured: EscalationSettings;
  rotations: Rotations;
  people: People;
  /** Returns the destinations that get incidents. Does not include people's contact methods. */
  listDestinations(): readonly DestinationSettings[];
  silences: Pick<SilenceSource, 'silencesOf'>;
  incidents: Pick<IncidentSource, 'findHold'>;
  clock: () => Date;
  onUnusable(name: string, error: Error): void;
}

/** Escalation policies with their routing, as the feature uses them. */
interface OpenEscalation {
  escalations: Escalations;
  routes: Route[];
  hasPolicies(): boolean;
  onChanged(listener: () => void): void;
  findConcerns(): Concern[];
  describe(incident: SharedIncident): IncidentEscalation | null;
  reload(settings: EscalationSettings): void;
}

/** Maximum milliseconds for which startup waits until the start of the routing is stored. */
const patienceMs = 5000;

export const openEscalation = async (parts: OpenParts): Promise<OpenEscalation> => {
  const { settings, configured, rotations, people, listDestinations, silences, incidents, clock, onUnusable } = parts;
  const listDestinationNames = () => listDestinations().map(({ name }) => name);
  const listNames = (): PolicyNames => ({
    rotations: rotations.list().map(({ name }) => name),
    destinations: listDestinationNames(),
    people: people.listUsers()?.map(({ name }) => name),
  });
  const policies = new SettingKeeper(policyKind, {
    settings,
    configured: configured.escalationPolicies,
    check: (policy, current) => {
      const [target] = findUnknownTargets(policy, listNames());
      const find = (name: string) => (name === policy.name ? policy : current.find(name));
      const problem = target === undefined ? findChainProblem(policy, find) : toUnknownTarget(target);
      if (problem !== undefined) throw new HttpError('invalid', problem);
    },
    onUnusable,
  });
  const routing = new SettingKeeper(routingKind, {
    settings,
    configured: toConfigured(configured),
    defaults: [defaultRouting],
    check: ({ settings: known }) => {
      const names = policies.list().map(({ name }) => name);
      const [problem] = findRoutingProblems(known, names);
      if (problem !== undefined) throw new HttpError('invalid', problem);
    },
    onUnusable,
  });
  const routingStart = new RoutingStart({ settings, clock });
  routingStart.configure(configured.escalationRouting !== undefined);
  // Otherwise, after a kill, the next startup would take the incidents of this one for older than the routing.
  await awaitWithin(patienceMs, routingStart.whenStored());
  const escalations = new Escalations({
    policies,
    routing,
    rotations,
    people,
    configuredSince: () => routingStart.at,
    isRead: () => settings.isRead(),
    listDestinations: listDestinationNames,
    listNames,
  });
  return {
    escalations,
    routes: createEscalationRoutes({
      policies,
      routing,
      listNames,
      derive: () => derivePolicy({ destinations: listDestinations(), rotations: rotations.list() }),
    }),
    hasPolicies: () => policies.list().length > 0,
    onChanged: (listener) => {
      policies.onChanged(listener);
      routing.onChanged(listener);
    },
    findConcerns: () => {
      const count = escalations.countBroken();
      if (count === 0) return [];
      const subject = count === 1 ? 'escalation policy names' : 'escalation policies name';
      return [{ area: 'deliveries', severity: 'WARNING', text: `${count} ${subject} a target that does not exist` }];
    },
    describe: (incident) => {
      const now = clock().getTime();
      const place = placeOf(incident);
      const policy = place?.policy ?? escalations.policyOf(incident, now);
      const known = policy === null ? undefined : policies.find(policy);
      if (policy === null) return null;
      const next = escalations.next(incident, now);
      const { source, hostname, level, title, labels } = incident;
      const isBlocked =
        silences.silencesOf({ source, hostname, level, text: title, labels }, now).length > 0 ||
        incidents.findHold(incident) !== undefined;
      return {
        policy,
        step: place?.step ?? 0,
        steps: known?.steps.length ?? 0,
        round: (place?.round ?? 0) + 1,
        rounds: (known?.repeat ?? 0) + 1,
        since: toTimeOrNull(place && incident.escalation?.at),
        next: next
          ? {
              policy: next.place.policy ?? policy,
              step: next.place.step,
              round: next.place.round + 1,
              dueAt: isBlocked ? null : toTimeText(Math.max(next.dueAt, now)),
              targets: [...next.targets],
            }
          : null,
      };
    },
    reload: (changed) => {
      policies.configure(changed.escalationPolicies);
      routingStart.configure(changed.escalationRouting !== undefined);
      routing.configure(toConfigured(changed));
    },
  };
};

const toConfigured = ({ escalationRouting }: EscalationSettings) =>
  escalationRouting ? [{ ...escalationRouting, name: routingName }] : [];
