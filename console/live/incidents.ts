import { effect, signal } from '@preact/signals';
import type { Incident, IncidentNotice } from 'signalbox/client';
import { client } from '../api.ts';
import { desktopNotices } from '../preferences.ts';
import { toHash } from '../router.ts';
import { isReadable } from '../routes.ts';
import { text } from '../strings/index.ts';
import { severities } from './alerts.ts';
import { subscribe } from './live.ts';
import { useResource } from './resource.ts';

/** Milliseconds between readings while alerts come in. */
const calm = 1000;

/** Puts what should be done first before the rest: what nobody has taken, then the worst, then the oldest. */
export const compareUrgency = (a: Incident, b: Incident): number =>
  Number(a.state === 'acknowledged') - Number(b.state === 'acknowledged') ||
  severities.indexOf(a.level) - severities.indexOf(b.level) ||
  Date.parse(a.firstAt) - Date.parse(b.firstAt);

/** How many incidents are open, and nobody has taken; kept current by `useOpenIncidents`. */
export const openIncidents = signal(0);

/** Follows them as long as the component is shown: the one around all screens. */
export const useOpenIncidents = (): void => {
  const load = async (signal: AbortSignal): Promise<number> =>
    isReadable('listIncidents') ? (await client.listIncidents({ state: 'open', limit: 1 }, { signal })).total : 0;
  openIncidents.value = useResource(load, { topic: 'incidents', calm }).value ?? 0;
};

/** Shows the number of open incidents in the icon of the page, and reports new ones on the desktop if the user wants it. */
export const startIncidentSignals = (): void => {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  effect(() => {
    const name = openIncidents.value > 0 ? 'favicon-open.svg' : 'favicon.svg';
    if (icon && !icon.href.endsWith(name)) icon.href = icon.href.replace(/favicon[^/]*$/, name);
  });
  effect(() => {
    if (!desktopNotices.value) return undefined;
    return subscribe('incidents', { onEvent: showNotice, onResync: () => undefined });
  });
};

/** The incidents that were reported, so that one is reported once each time it opens. */
const reported = new Set<string>();

const showNotice = ({ id, number, state, level, title }: IncidentNotice): void => {
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
