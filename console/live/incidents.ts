import { effect, signal } from '@preact/signals';
import type { Incident } from 'signalbox/client';
import { severities } from '../../src/kit/severity.ts';
import { client } from '../api.ts';
import { desktopNotifications } from '../preferences.ts';
import { toHash } from '../router.ts';
import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { subscribe } from './live.ts';
import { type Resource, useResource } from './resource.ts';

/** Minimum milliseconds between requests during an alert storm. */
const calm = 1000;

/** Maximum number of incidents kept here. Further incidents are only counted. */
const most = 100;

interface OpenIncidents {
  /** Number of open incidents. */
  total: number;
  data: readonly Incident[];
  /** Number of acknowledged incidents. */
  acknowledgedTotal: number;
  acknowledged: readonly Incident[];
  /** Time at which the last incident was resolved. */
  quietSince: string | null;
}

/** Open and acknowledged incidents. Updated by `useOpenIncidents`. */
export const openIncidents = signal<Resource<OpenIncidents>>({
  value: undefined,
  error: undefined,
  reload: () => undefined,
  reloadSoon: () => undefined,
});

/** Compares two incidents by urgency: open before acknowledged, then worst first, then oldest first. */
export const compareUrgency = (a: Incident, b: Incident): number =>
  Number(a.state === 'acknowledged') - Number(b.state === 'acknowledged') ||
  severities.indexOf(a.level) - severities.indexOf(b.level) ||
  Date.parse(a.firstAt) - Date.parse(b.firstAt);

/** Follows incidents while the app component is shown. Events contain all needed fields, so nothing is reloaded. */
export const useOpenIncidents = (): void => {
  const resource = useResource(loadOpen, { topic: 'incidents', apply, calm });
  openIncidents.value = resource;
};

const loadOpen = async (signal: AbortSignal): Promise<OpenIncidents> => {
  if (!isMounted('listIncidents'))
    return { total: 0, data: [], acknowledgedTotal: 0, acknowledged: [], quietSince: null };
  const [open, acknowledged, resolved] = await Promise.all([
    client.listIncidents({ state: 'open', limit: most }, { signal }),
    client.listIncidents({ state: 'acknowledged', limit: most }, { signal }),
    // The most recently changed incident may not be the last one resolved, because comments are changes, too.
    client.listIncidents({ state: 'resolved', limit: most }, { signal }),
  ]);
  return {
    total: open.total,
    data: open.data,
    acknowledgedTotal: acknowledged.total,
    acknowledged: acknowledged.data,
    quietSince: findLast(resolved.data.map(({ resolvedAt }) => resolvedAt)),
  };
};

/** Returns the latest of several UTC timestamps. */
const findLast = (times: readonly (string | null)[]): string | null =>
  times
    .filter((time) => time !== null)
    .toSorted()
    .at(-1) ?? null;

/**
 * Applies a change to an incident. Reloads the lists if the incident is not kept here, because its former state is then
 * unknown.
 */
const apply = (changed: Incident, before: OpenIncidents | undefined): OpenIncidents | undefined => {
  if (!before) return before;
  const open = move(changed, 'open', before.data, before.total);
  const acknowledged = move(changed, 'acknowledged', before.acknowledged, before.acknowledgedTotal);
  if (open.isPart || acknowledged.isPart) openIncidents.peek().reloadSoon();
  return {
    total: open.total,
    data: open.data,
    acknowledgedTotal: acknowledged.total,
    acknowledged: acknowledged.data,
    quietSince: findLast([changed.resolvedAt, before.quietSince]),
  };
};

/** Moves an incident into or out of a list. A list is partial if some incidents are not kept. */
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

/** Shows open incidents in the favicon and, if enabled, reports new incidents on the desktop. */
export const startIncidentSignals = (): void => {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  effect(() => {
    const name = openIncidents.value.value?.total ? 'favicon-open.svg' : 'favicon.svg';
    if (icon && !icon.href.endsWith(name)) icon.href = icon.href.replace(/favicon[^/]*$/, name);
  });
  effect(() => {
    if (!desktopNotifications.value) return undefined;
    return subscribe('incidents', { onEvent: showDesktopNotification, onResync: () => undefined });
  });
};

/** Incidents that have been reported. Each opening is reported only once. */
const reported = new Set<string>();

const showDesktopNotification = ({ id, number, state, level, title }: Incident): void => {
  if (state !== 'open') {
    reported.delete(id);
    return;
  }
  if (reported.has(id) || Notification.permission !== 'granted' || !document.hidden) return;
  reported.add(id);
  const notification = new Notification(`${text.alerts.severities[level]}: ${title}`, { tag: id });
  notification.onclick = () => {
    window.focus();
    location.hash = toHash(`/incidents/${number}`);
  };
};

/** Turns desktop notifications on or off. Resolves to false if the browser denies permission. */
export const toggleDesktopNotifications = async (): Promise<boolean> => {
  if (desktopNotifications.value) {
    desktopNotifications.value = false;
    return true;
  }
  const isAllowed = 'Notification' in window && (await Notification.requestPermission()) === 'granted';
  desktopNotifications.value = isAllowed;
  return isAllowed;
};
