import { openFor } from '../../auth/access.ts';
import { type Concern, defineFeature, type FeatureInstance } from '../../kit/feature.ts';
import type { IncidentSource, SharedIncident } from '../../kit/incident-source.ts';
import { createNoticeTopic } from '../../kit/topic.ts';
import { createIncidentActionRoutes } from './action-routes.ts';
import { createShowIncident } from './incident.ts';
import { addIncidentMeters, createObserver } from './meters.ts';
import { openIncidents } from './open-store.ts';
import { createIncidentRoutes, requireIncident } from './routes.ts';
import { Incident } from './schema.ts';
import { type IncidentSettings, incidentSettings, toRules } from './settings.ts';
import type { IncidentStore } from './store.ts';

/** What is wrong now, who has taken it, and what became of it: a fold over alerts and what people do. */
export const incidents = defineFeature({
  name: 'incidents',
  needs: ['alerts', 'silences', 'notifications'],
  profiles: [
    {
      name: 'incidents',
      mounts: ['/'],
      summary: 'problems with all their alerts, and who has taken them',
      fixedAccess: 'closed',
    },
  ],
  settings: incidentSettings,
  create: async (parts) => {
    const { offers, meters, clock, settings: own } = parts;
    const { alerts, tasks, silences } = offers;
    const show = createShowIncident(silences, clock);
    const store = await openIncidents(parts, alerts, { rules: toRules(own), observe: createObserver(meters) });
    addIncidentMeters(meters, store);
    const { topic, publish } = createNoticeTopic(openFor('incidents:read'), Incident);
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
    };
    const describeNotifications = (incident: SharedIncident) => offers.notifications.describe(incident);
    return {
      profiles: {
        incidents: [
          ...createIncidentRoutes({ store, journal: alerts.journal, show, describeNotifications }),
          ...createIncidentActionRoutes({ store, tasks, show, clock }),
        ],
      },
      offers: { incidents: source },
      topics: { incidents: topic },
      findConcerns: () => findIncidentConcerns(store),
      isReady: () => store.isReady(),
      reload: (changed) => {
        store.changeRules(toRules(changed));
        return [];
      },
      close: () => store.close(),
    } satisfies FeatureInstance<IncidentSettings>;
  },
});

/** What of the incidents needs somebody's attention now, the worst first: nobody has taken it. */
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
