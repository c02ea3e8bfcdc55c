import { openFor } from '../../auth/access.ts';
import { type Concern, defineFeature, type FeatureInstance } from '../../kit/feature.ts';
import type { SharedIncident } from '../../kit/incident.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import { createEventTopic } from '../../kit/topic.ts';
import { createIncidentActionRoutes } from './action-routes.ts';
import { Causes } from './causes.ts';
import type { StoredIncident } from './incident.ts';
import { addIncidentGauge, createObserver } from './incident-metrics.ts';
import { openIncidentStore } from './open-store.ts';
import { requireIncident } from './requests.ts';
import { createShowIncident } from './responses.ts';
import { createIncidentRoutes } from './routes.ts';
import { Incident } from './schema.ts';
import { type IncidentSettings, incidentSettings, toRules } from './settings.ts';
import type { IncidentStore } from './store.ts';
import { incidentTransfer } from './transfer.ts';

/** Feature for incidents: problems, with all their alerts and the people who acknowledged or resolved them. */
export const incidents = defineFeature({
  name: 'incidents',
  needs: ['alerts', 'silences', 'notifications'],
  profiles: [
    {
      name: 'incidents',
      mounts: ['/'],
      summary: 'problems with their alerts, acknowledgements and timelines',
      fixedAccess: 'closed',
    },
  ],
  settings: incidentSettings,
  transfer: incidentTransfer,
  create: async (parts) => {
    const { offers, meters, clock, settings: own } = parts;
    const { alerts, tasks, silences } = offers;
    const store = await openIncidentStore(parts, alerts, { rules: toRules(own), observe: createObserver(meters) });
    let graceMs = own.dependsGraceSeconds * 1000;
    const causes = new Causes({ store, silences, clock, graceMs: () => graceMs });
    const findHold = (incident: SharedIncident) => causes.find(incident as StoredIncident);
    const show = createShowIncident(silences, findHold, clock);
    addIncidentGauge(meters, store);
    const { topic, publish } = createEventTopic(openFor('incidents:read'), Incident);
    store.onChanged((changed) => {
      for (const incident of changed) publish(() => show(incident));
    });
    const source: IncidentSource = {
      nameIncidents: (records) => store.nameIncidents(records),
      listUnsettled: () => store.listUnsettled(),
      find: (id) => store.find(id),
      require: (id) => requireIncident(store, id),
      act: (action) => store.act(action),
      listSent: (...args) => store.listSent(...args),
      onChanged: (listener) => store.onChanged(listener),
      onLost: (listener) => store.onLost(listener),
      catchUp: () => store.catchUp(),
      findHold,
      isCause: (incident) => causes.isCause(incident as StoredIncident),
      onHoldsChanged: (listener) => causes.onChanged(listener),
      dependencies: causes,
    };
    const describeNotifications = (incident: SharedIncident) => offers.notifications.describe(incident);
    const describeEscalation = (incident: SharedIncident) => offers.notifications.describeEscalation(incident);
    const listPeople = () => offers.notifications.listPeople();
    const nextStep = (incident: SharedIncident) => offers.notifications.nextStep(incident);
    return {
      profiles: {
        incidents: [
          ...createIncidentRoutes({
            store,
            journal: alerts.journal,
            show,
            identifySender: parts.identifySender,
            listHostNames: (name) => offers.hosts?.listNames(name) ?? [],
            describeNotifications,
            describeEscalation,
          }),
          ...createIncidentActionRoutes({ store, tasks, show, clock, nextStep, listPeople }),
        ],
      },
      offers: { incidents: source },
      topics: { incidents: topic },
      findConcerns: () => [...findIncidentConcerns(store), ...describeBroken(causes.countBroken())],
      isReady: () => store.isReady(),
      start: () => causes.start(),
      reload: (changed) => {
        store.changeRules(toRules(changed));
        graceMs = changed.dependsGraceSeconds * 1000;
        causes.refresh();
        return [];
      },
      close: () => store.close(),
    } satisfies FeatureInstance<IncidentSettings>;
  },
});

const describeBroken = (count: number): Concern[] => {
  if (count === 0) return [];
  const text =
    count === 1
      ? '1 dependency has no effect'
      : `${count} watches, heartbeats or hosts have dependencies without effect`;
  return [{ area: 'incidents', severity: 'WARNING', text }];
};

/** Returns the open incidents as concerns, worst first. */
const findIncidentConcerns = (store: IncidentStore): Concern[] => [
  ...(['CRITICAL', 'ERROR'] as const).flatMap((severity): Concern[] => {
    const { count = 0 } = store.count().find(({ state, level }) => state === 'open' && level === severity) ?? {};
    if (count === 0) return [];
    const text = `${count} ${severity.toLowerCase()} ${count === 1 ? 'incident is' : 'incidents are'} open`;
    return [{ area: 'incidents', severity, text }];
  }),
  ...(store.failure
    ? [{ area: 'incidents', severity: 'ERROR', text: 'Incidents are not up to date: alerts cannot be read' } as const]
    : []),
];
