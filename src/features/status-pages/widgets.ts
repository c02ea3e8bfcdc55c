import type { Announcement } from './announcement.ts';
import { toOpaqueId } from './feeds.ts';
import type { MaintenanceView, PageView } from './view.ts';
import { wordsOf } from './words.ts';

/** Numbers that Uptime Kuma uses for states. */
const kumaStates = { down: 0, up: 1, unknown: 2, maintenance: 3 } as const;

/** Formats a time as Uptime Kuma does, in UTC: `2026-01-31 08:30:00.000`. */
const toKumaTime = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

/** Converts a page to the form of Uptime Kuma's `/api/status-page/{slug}`. The id of a check is its position. */
export const toKumaPage = ({ page, groups, open, maintenance, at }: PageView) => {
  const { name, values } = page;
  let id = 0;
  const [latest] = open;
  return {
    config: {
      slug: name,
      title: values.title,
      description: null,
      icon: values.logo === undefined ? '/icon.svg' : `/status/${name}/logo`,
      theme: 'auto',
      published: true,
      showTags: false,
      customCSS: '',
      footerText: null,
      showPoweredBy: false,
      googleAnalyticsId: null,
      showCertificateExpiry: false,
    },
    incident: latest ? toKumaIncident(latest) : null,
    publicGroupList: groups.map((group, index) => ({
      id: index + 1,
      name: group.name,
      weight: index + 1,
      monitorList: group.checks.map((check) => {
        id += 1;
        return { id, name: check.name, sendUrl: 0, type: 'http' };
      }),
    })),
    maintenanceList: maintenance.map(({ startsAt, endsAt, names }, index) => ({
      id: index + 1,
      title: names.join(', '),
      description: '',
      strategy: 'single',
      active: true,
      status: startsAt <= at ? 'under-maintenance' : 'scheduled',
      timeslotList: [{ startDate: new Date(startsAt).toISOString(), endDate: new Date(endsAt).toISOString() }],
    })),
  };
};

const toKumaIncident = ({ title, updates }: Announcement) => {
  const last = updates.at(-1);
  const [begin] = updates;
  return {
    id: begin?.number ?? 0,
    style: 'warning',
    title,
    content: last?.text ?? '',
    pin: 1,
    createdDate: toKumaTime(begin?.at ?? 0),
    lastUpdatedDate: toKumaTime(last?.at ?? 0),
  };
};

/** Converts the states of a page to the form of Uptime Kuma's `/api/status-page/heartbeat/{slug}`. */
export const toKumaHeartbeats = ({ groups, at }: PageView) => {
  const checks = groups.flatMap((group) => group.checks);
  const beat = (status: number, time: number) => ({ status, time: toKumaTime(time), msg: '', ping: null });
  return {
    // One beat for each change in the last 24 hours, and one for the current state.
    heartbeatList: Object.fromEntries(
      checks.map(({ state, outages }, index) => {
        const changes = outages
          .slice(0, 49)
          .toReversed()
          .flatMap(({ startsAt, endsAt, next }) => [
            beat(kumaStates.down, startsAt),
            ...(endsAt === null ? [] : [beat(kumaStates[next], endsAt)]),
          ]);
        return [index + 1, [...changes, beat(kumaStates[state], at)]];
      }),
    ),
    uptimeList: Object.fromEntries(
      // A check that nobody observed has no uptime.
      checks.flatMap(({ recent }, index) => (recent === null ? [] : [[`${index + 1}_24`, recent / 100]])),
    ),
  };
};

/**
 * Names that Statuspage uses for states of components. An unobserved check is shown as degraded, because nobody knows
 * whether it works.
 */
const componentStates = {
  up: 'operational',
  down: 'major_outage',
  maintenance: 'under_maintenance',
  unknown: 'degraded_performance',
} as const;

const indicators = {
  up: 'none',
  unknown: 'minor',
  maintenance: 'maintenance',
  partly: 'major',
  down: 'critical',
} as const;

/** Converts a page to the form of Statuspage's `/api/v2/summary.json`. */
export const toStatuspageSummary = (view: PageView, url: string) => {
  const { page, groups, open, maintenance, summary, timeZone, at } = view;
  const { title, language = 'en' } = page.values;
  const pageId = toOpaqueId('page', page.name);
  const hasChecks = groups.some(({ checks }) => checks.length > 0);
  const words = wordsOf[language];
  const time = (ms: number): string => new Date(ms).toISOString();
  let position = 0;
  const component = (name: string, status: string, groupId: string | null, since = at) => {
    position += 1;
    return {
      id: toOpaqueId('component', page.name, position),
      name,
      status,
      created_at: time(since),
      updated_at: time(since),
      position,
      description: null,
      showcase: false,
      start_date: null,
      group_id: groupId,
      page_id: pageId,
      group: groupId === null,
      only_show_if_degraded: false,
    };
  };
  const components = groups.flatMap(({ name, checks }) => {
    const worst = checks.find(({ state }) => state === 'down') ?? checks.find(({ state }) => state !== 'up');
    const group = component(name, componentStates[worst?.state ?? 'up'], null);
    const members = checks.map(({ name: own, state, since }) =>
      component(own, componentStates[state], group.id, since),
    );
    return [{ ...group, components: members.map(({ id }) => id) }, ...members];
  });
  return {
    page: { id: pageId, name: title, url, time_zone: timeZone, updated_at: time(at) },
    components,
    incidents: open.map((announcement) => toStatuspageIncident(announcement, pageId, url)),
    scheduled_maintenances: maintenance.map((each) => toScheduled(each, { pageId, url, at, title: words.maintenance })),
    // A page without checks says nothing about systems.
    status: { indicator: indicators[summary], description: hasChecks ? words.summaries[summary] : '' },
  };
};

const toStatuspageIncident = ({ id, title, state, updates }: Announcement, pageId: string, url: string) => {
  const own = toOpaqueId(id);
  const time = (ms: number | undefined): string => new Date(ms ?? 0).toISOString();
  const [first] = updates;
  return {
    id: own,
    name: title,
    status: state,
    created_at: time(first?.at),
    updated_at: time(updates.at(-1)?.at),
    monitoring_at: null,
    resolved_at: null,
    impact: 'minor',
    shortlink: url,
    started_at: time(first?.at),
    page_id: pageId,
    incident_updates: updates.toReversed().map((update) => ({
      id: toOpaqueId(id, update.number),
      status: update.state,
      body: update.text,
      incident_id: own,
      created_at: time(update.at),
      updated_at: time(update.at),
      display_at: time(update.at),
      affected_components: null,
    })),
    components: [],
  };
};

const toScheduled = (
  { id, startsAt, endsAt, names }: MaintenanceView,
  { pageId, url, at, title }: { pageId: string; url: string; at: number; title: string },
) => {
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    id: toOpaqueId(id, startsAt),
    name: `${title}: ${names.join(', ')}`,
    status: startsAt <= at ? 'in_progress' : 'scheduled',
    created_at: time(startsAt),
    updated_at: time(startsAt),
    monitoring_at: null,
    resolved_at: null,
    impact: 'maintenance',
    shortlink: url,
    started_at: time(startsAt),
    page_id: pageId,
    incident_updates: [],
    components: [],
    scheduled_for: time(startsAt),
    scheduled_until: time(endsAt),
  };
};
