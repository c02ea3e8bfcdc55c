import { effect, signal } from '@preact/signals';
import type { Incident } from 'signalbox/client';
import { severities } from '../../src/kit/severity.ts';
import { client } from '../api.ts';
import { desktopNotices } from '../preferences.ts';
import { toHash } from '../router.ts';
import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { subscribe } from './live.ts';
import { type Resource, useResource } from './resource.ts';

/** Milliseconds between two readings in a storm. */
const calm = 1000;

/** Open incidents that are kept here; of more, only the number is known. */
const most = 100;

interface OpenIncidents {
  /** How many there are. */
  total: number;
  data: readonly Incident[];
  /** Those that somebody has acknowledged, the same. */
  takenTotal: number;
  taken: readonly Incident[];
  /** When the last one was resolved. */
  quietSince: string | null;
}

/** What nobody has taken yet, and what somebody has; kept current by `useOpenIncidents`. */
export const openIncidents = signal<Resource<OpenIncidents>>({
  value: undefined,
  error: undefined,
  reload: () => undefined,
  reloadSoon: () => undefined,
});

/** Puts what should be done first before the rest: what nobody has taken, then the worst, then the oldest. */
export const compareUrgency = (a: Incident, b: Incident): number =>
  Number(a.state === 'acknowledged') - Number(b.state === 'acknowledged') ||
  severities.indexOf(a.level) - severities.indexOf(b.level) ||
  Date.parse(a.firstAt) - Date.parse(b.firstAt);

/** Follows open incidents as long as the component is shown: the one around all screens. Events say all there is to know. */
export const useOpenIncidents = (): void => {
  const resource = useResource(loadOpen, { topic: 'incidents', take, calm });
  openIncidents.value = resource;
};

const loadOpen = async (signal: AbortSignal): Promise<OpenIncidents> => {
  if (!isMounted('listIncidents')) return { total: 0, data: [], takenTotal: 0, taken: [], quietSince: null };
  const [open, acknowledged, resolved] = await Promise.all([
    client.listIncidents({ state: 'open', limit: most }, { signal }),
    client.listIncidents({ state: 'acknowledged', limit: most }, { signal }),
    // A comment is a change, too: the one that changed last need not be the one that was resolved last.
    client.listIncidents({ state: 'resolved', limit: most }, { signal }),
  ]);
  return {
    total: open.total,
    data: open.data,
    takenTotal: acknowledged.total,
    taken: acknowledged.data,
    quietSince: findLast(resolved.data.map(({ resolvedAt }) => resolvedAt)),
  };
};

/** The last of some times, all in UTC. */
const findLast = (times: readonly (string | null)[]): string | null =>
  times
    .filter((time) => time !== null)
    .toSorted()
    .at(-1) ?? null;

/** What is known after an incident has changed. Of those that are not kept here, nobody knows what they were before. */
const take = (changed: Incident, before: OpenIncidents | undefined): OpenIncidents | undefined => {
  if (!before) return before;
  const open = move(changed, 'open', before.data, before.total);
  const taken = move(changed, 'acknowledged', before.taken, before.takenTotal);
  if (open.isPart || taken.isPart) openIncidents.peek().reloadSoon();
  return {
    total: open.total,
    data: open.data,
    takenTotal: taken.total,
    taken: taken.data,
    quietSince: findLast([changed.resolvedAt, before.quietSince]),
  };
};

/** The incidents in a state after one has changed; they are a part if not all are kept here. */
const move = (changed: Incident, state: Incident['state'], before: readonly Incident[], total: number) => {
  const others = before.filter(({ id }) => id !== changed.id);
  const isIn = changed.state === state;
  const data = isIn ? [changed, ...others].slice(0, most) : others;
  return {
    total: total + Number(isIn) - Number(others.length < before.length),
    data,
    isPart: total > before.length || data.length === most,
  };
};

/** Shows in the icon of the page that incidents are open, and reports new ones on the desktop if the user wants it. */
export const startIncidentSignals = (): void => {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  effect(() => {
    const name = openIncidents.value.value?.total ? 'favicon-open.svg' : 'favicon.svg';
    if (icon && !icon.href.endsWith(name)) icon.href = icon.href.replace(/favicon[^/]*$/, name);
  });
  effect(() => {
    if (!desktopNotices.value) return undefined;
    return subscribe('incidents', { onEvent: showNotice, onResync: () => undefined });
  });
};

/** The incidents that were reported, so that one is reported once each time it opens. */
const reported = new Set<string>();

const showNotice = ({ id, number, state, level, title }: Incident): void => {
  if (state !== 'open') {
    reported.delete(id);
    return;
  }
  if (reported.has(id) || Notification.permission !== 'granted' || !document.hidden) return;
  reported.add(id);
  const notice = new Notification(`${text.alerts.severities[level]}: ${title}`, { tag: id });
  notice.onclick = () => {
    window.focus();
    location.hash = toHash(`/incidents/${number}`);
  };
};

/** Turns reports on the desktop on or off; resolves to false if the browser does not allow them. */
export const toggleDesktopNotices = async (): Promise<boolean> => {
  if (desktopNotices.value) {
    desktopNotices.value = false;
    return true;
  }
  const isAllowed = 'Notification' in window && (await Notification.requestPermission()) === 'granted';
  desktopNotices.value = isAllowed;
  return isAllowed;
};
