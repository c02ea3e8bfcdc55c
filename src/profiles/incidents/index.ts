import Type, { type Static } from 'typebox';
import { defineFeature, type FeatureInstance } from '../feature.ts';
import { createNoticeTopic } from '../topic.ts';
import { FileIncidentStore } from './file-store.ts';
import type { Rules } from './fold.ts';
import type { StoredIncident } from './incident.ts';
import { addIncidentMeters, createObserver, findIncidentConcerns } from './measures.ts';
import { createIncidentRoutes } from './routes.ts';
import { IncidentNotice } from './schema.ts';

const settings = {
  incidentLevel: Type.Enum(['CRITICAL', 'ERROR', 'WARNING'], {
    type: 'string',
    default: 'WARNING',
    description: 'Alerts of this severity or worse open incidents.',
  }),
  reopenMinutes: Type.Number({
    minimum: 0,
    maximum: 10_080,
    default: 30,
    description: 'An alert that comes within so many minutes after its incident was resolved opens that one again.',
  }),
  quietHours: Type.Number({
    minimum: 0,
    maximum: 8760,
    default: 24,
    description:
      'After so many hours without alerts an incident is resolved, unless its sender says when it is over; 0: never.',
  }),
  incidentsRetainDays: Type.Integer({
    minimum: 0,
    default: 90,
    description: 'Days to keep a resolved incident; 0 keeps all. At most 100,000 are kept.',
  }),
};
type IncidentSettings = Static<ReturnType<typeof Type.Object<typeof settings>>>;

/** What is wrong now, who has taken it, and what became of it: a fold over alerts and what people do. */
export const incidents = defineFeature({
  name: 'incidents',
  profiles: [
    {
      name: 'incidents',
      mounts: ['/'],
      summary: 'problems with all their alerts, and who has taken them',
      fixedAccess: 'closed',
    },
  ],
  settings,
  create: async ({ offers, openLog, openState, meters, clock, log, settings: own }) => {
    const { alerts, tasks } = offers;
    if (!alerts) return { profiles: { incidents: [] } };
    const observe = createObserver(meters);
    const parts = { rules: toRules(own), retainDays: own.incidentsRetainDays, observe, clock, log };
    const store = await FileIncidentStore.open({
      ...parts,
      alerts: alerts.journal,
      openLog,
      file: openState('incidents'),
    });
    addIncidentMeters(meters, store);
    alerts.setIncidentNames((records) => store.nameIncidents(records));
    const { topic, publish } = createNoticeTopic('open', IncidentNotice);
    store.onChanged((changed) => {
      for (const incident of changed) publish(() => toNotice(incident));
    });
    return {
      profiles: { incidents: createIncidentRoutes({ store, journal: alerts.journal, tasks, clock }) },
      topics: { incidents: { ...topic, scope: 'incidents:read' } },
      findConcerns: () => findIncidentConcerns(store),
      isReady: () => store.failure === undefined,
      reopen: async () => store.reopen(),
      reload: (changed) => {
        store.changeRules(toRules(changed));
        return [];
      },
      close: () => store.close(),
    } satisfies FeatureInstance<IncidentSettings>;
  },
});

const toRules = ({ incidentLevel, reopenMinutes, quietHours }: IncidentSettings): Rules => ({
  level: incidentLevel,
  reopenMs: reopenMinutes * 60_000,
  quietMs: quietHours * 3_600_000,
});

const toNotice = ({ id, number, state, level, title, count, version }: StoredIncident): IncidentNotice => ({
  ...{ id, number, state, level, title, count, version },
});
