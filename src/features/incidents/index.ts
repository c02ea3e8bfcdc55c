import Type, { type Static } from 'typebox';
import { openFor } from '../../auth/access.ts';
import { alertIndexing } from '../../kit/alert-record.ts';
import { type Concern, defineFeature, type FeatureInstance, type Parts } from '../../kit/feature.ts';
import type { AlertSource, IncidentSource, SharedIncident } from '../../kit/offers.ts';
import { createNoticeTopic } from '../../kit/topic.ts';
import { dayMs, hourMs, minuteMs } from '../../lib/units.ts';
import type { Meters } from '../../metrics/meters.ts';
import { expectMovedFiles } from '../../storage/projection.ts';
import { createIncidentActionRoutes } from './action-routes.ts';
import type { Rules } from './fold.ts';
import { openFormerIncidents } from './former.ts';
import { createShowIncident } from './incident.ts';
import { PostgresIncidentStore } from './postgres-store.ts';
import { ProjectedIncidentStore } from './projected-store.ts';
import { createIncidentRoutes, requireIncident } from './routes.ts';
import { Incident } from './schema.ts';
import type { IncidentStore, Observe, ReadAlerts } from './store.ts';

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
  create: async (storage) => {
    const { offers, database, meters, clock, log, settings: own } = storage;
    const { alerts: { journal } = noAlerts, tasks, silences } = offers;
    const show = createShowIncident(silences, clock);
    const observe = createObserver(meters);
    const parts = { rules: toRules(own), observe, clock, log };
    const store: IncidentStore = database
      ? new PostgresIncidentStore({ ...parts, retainDays: own.incidentsRetainDays, alerts: journal, database })
      : await openInFiles(storage, offers.alerts, parts);
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
      catchUp: () => store.catchUp(),
    };
    const describeNotifications = (incident: SharedIncident) => offers.notifications?.describe(incident) ?? [];
    return {
      profiles: {
        incidents: [
          ...createIncidentRoutes({ store, journal, show, describeNotifications }),
          ...createIncidentActionRoutes({ store, tasks, show, clock }),
        ],
      },
      offers: { incidents: source },
      topics: { incidents: topic },
      findConcerns: () => findIncidentConcerns(store),
      isReady: () => store.isReady(),
      reopen: async () => store.reopen(),
      reload: (changed) => {
        store.changeRules(toRules(changed));
        return [];
      },
      close: () => store.close(),
    } satisfies FeatureInstance<IncidentSettings>;
  },
});

/** Opens incidents that follow the log of alerts in files, which is open where alerts are mounted. */
const openInFiles = async (
  storage: Pick<Parts, 'openLog' | 'openState' | 'openFile'>,
  alerts: AlertSource | undefined,
  parts: { rules: Rules; observe: Observe } & Pick<Parts, 'clock' | 'log'>,
): Promise<ProjectedIncidentStore> => {
  const snapshot = storage.openState('alerts.incidents');
  const former = openFormerIncidents(storage);
  if (alerts) {
    const store = await ProjectedIncidentStore.open({ ...parts, events: alerts.events, snapshot, former });
    alerts.onMoved(() => void store.save());
    return store;
  }
  let opened: ProjectedIncidentStore | undefined;
  const isMoved = expectMovedFiles(() => opened);
  const options = { name: 'alerts', awaitsHold: true, recentCount: 1000, indexing: alertIndexing };
  const events = await storage.openLog('alert log', options, isMoved);
  opened = await ProjectedIncidentStore.open({ ...parts, events, snapshot, former, onClosed: () => events.close() });
  return opened;
};

/** Where alerts are not mounted, there are the incidents of before. */
const noAlerts: { journal: ReadAlerts } = {
  journal: {
    async *readAfter() {},
    onStored: () => () => undefined,
    holdFrom: async () => () => undefined,
    search: async () => ({ records: [], next: undefined }),
    find: async () => undefined,
    state: () => ({ healthy: true, failure: undefined, lastSeq: undefined }),
  },
};

const toRules = ({ incidentLevel, reopenMinutes, quietHours, incidentsRetainDays }: IncidentSettings): Rules => ({
  level: incidentLevel,
  // Whole milliseconds, which the database requires.
  reopenMs: Math.ceil(reopenMinutes * minuteMs),
  quietMs: Math.ceil(quietHours * hourMs),
  retainMs: incidentsRetainDays * dayMs,
});

/** Upper bounds in seconds: a minute to a week. */
const bounds = [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 259_200, 604_800];

/** Measures what is folded by this process. */
const createObserver = (meters: Meters): Observe => {
  const opened = meters.counter('signalbox_incidents_opened_total', 'Incidents opened.', []).at();
  const overflowed = meters
    .counter(
      'signalbox_incidents_overflow_alerts_total',
      'Alerts counted in one incident because too many are open.',
      [],
    )
    .at();
  const acknowledged = meters
    .histogram(
      'signalbox_incidents_time_to_acknowledge_seconds',
      'How long incidents were open before somebody took them.',
      [],
      bounds,
    )
    .at();
  const resolved = meters
    .histogram(
      'signalbox_incidents_time_to_resolve_seconds',
      'How long incidents lasted, from the time that they were opened last.',
      [],
      bounds,
    )
    .at();
  return (measured) => {
    opened.value += measured.opened;
    overflowed.value += measured.overflowed;
    for (const ms of measured.toAcknowledge) acknowledged.observe(ms / 1000);
    for (const ms of measured.toResolve) resolved.observe(ms / 1000);
  };
};

/** Counts incidents when metrics are scraped. */
const addIncidentMeters = ({ reading }: Meters, store: IncidentStore): void =>
  reading(
    'gauge',
    'signalbox_incidents',
    'Incidents by state and level.',
    () => store.lastCounts.map(({ state, level, count }) => [[state, level], count]),
    ['state', 'level'],
  );

/** What of the incidents needs somebody's attention now, the worst first: nobody has taken it. */
const findIncidentConcerns = ({ lastCounts, failure }: IncidentStore): Concern[] => [
  ...(['CRITICAL', 'ERROR'] as const).flatMap((severity): Concern[] => {
    const { count = 0 } = lastCounts.find(({ state, level }) => state === 'open' && level === severity) ?? {};
    if (count === 0) return [];
    const text = `${count} ${severity.toLowerCase()} ${count === 1 ? 'incident is' : 'incidents are'} open`;
    return [{ area: 'incidents', severity, text }];
  }),
  ...(failure
    ? [{ area: 'incidents', severity: 'ERROR', text: 'Incidents are not up to date: alerts cannot be folded' } as const]
    : []),
];
