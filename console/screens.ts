import { alertsView } from './alerts/screen.tsx';
import { overviewView } from './overview/screen.tsx';
import { isMounted } from './routes.ts';
import type { Screen, ScreenView } from './screen.ts';
import { text } from './strings/index.ts';

const { titles } = text;

/** Loads a screen that is not among the first. */
const later = (name: keyof typeof import('./later.ts')) => async (): Promise<ScreenView> =>
  (await import('./later.ts'))[name];

/** Every screen, in the order of the navigation. */
const screens: readonly Screen[] = [
  { path: '/', title: titles.overview, icon: 'overview', key: 'o', load: async () => overviewView },
  {
    ...{ path: '/incidents', title: titles.incidents, icon: 'incidents', key: 'n' },
    ...{ needs: 'listIncidents', load: later('incidentsView') },
  },
  {
    path: '/alerts',
    title: titles.alerts,
    icon: 'alerts',
    key: 'a',
    needs: 'listAlerts',
    load: async () => alertsView,
  },
  {
    ...{ path: '/watches', title: titles.watches, icon: 'watches', key: 'w' },
    ...{ needs: 'listWatches', load: later('watchesView') },
  },
  {
    ...{ path: '/heartbeats', title: titles.heartbeats, icon: 'heartbeats', key: 'b' },
    ...{ needs: 'listHeartbeats', load: later('heartbeatsView') },
  },
  { path: '/tasks', title: titles.tasks, icon: 'tasks', key: 't', needs: 'listTasks', load: later('tasksView') },
  {
    ...{ path: '/commands', title: titles.commands, icon: 'commands', key: 'c' },
    ...{ needs: 'listCommands', load: later('commandsView') },
  },
  {
    ...{ path: '/silences', title: titles.silences, icon: 'silences', key: 'q' },
    ...{ needs: 'listSilences', load: later('silencesView') },
  },
  {
    ...{ path: '/notifications', title: titles.notifications, icon: 'notifications', key: 'd' },
    ...{ needs: 'listDeliveries', load: later('notificationsView') },
  },
  {
    ...{ path: '/processes', title: titles.processes, icon: 'processes', key: 'p' },
    ...{ needs: 'listProcesses', load: later('processesView') },
  },
  { path: '/audit', title: titles.audit, icon: 'audit', key: 'u', needs: 'listExecutions', load: later('auditView') },
  { path: '/items', title: titles.items, icon: 'items', key: 'i', needs: 'listItems', load: later('itemsView') },
  {
    ...{ path: '/simple-tasks', title: titles.simpleTasks, icon: 'tasks', key: 's' },
    ...{ needs: 'listTasksAtSimple', load: later('simpleTasksView') },
  },
  {
    ...{ path: '/instances', title: titles.instances, icon: 'instances', key: 'h' },
    ...{ needs: 'listInstances', load: later('instancesView') },
  },
  {
    ...{ path: '/connect', title: titles.connect, icon: 'connect', key: 'l' },
    ...{ needs: 'createAlert', load: later('connectView') },
  },
  {
    ...{ path: '/settings', title: titles.settings, icon: 'settings', key: 'e' },
    ...{ needs: 'listSessions', load: later('settingsView') },
  },
  { path: '/setup', title: titles.setup, icon: 'user', needs: 'setUp', load: later('setupView') },
];

const isAvailable = ({ needs }: Screen): boolean => needs === undefined || isMounted(needs);

/** The screen with this address, whether its route is mounted or not. */
export const findScreen = (path: string): Screen | undefined => screens.find((screen) => screen.path === path);

/** The screen with this address, if this server has its routes. */
export const findAvailable = (path: string): Screen | undefined => {
  const screen = findScreen(path);
  return screen && isAvailable(screen) ? screen : undefined;
};

/** The screens to choose from: those whose routes this server has. */
export const listScreens = (): (Screen & { key: string })[] =>
  screens.filter((screen): screen is Screen & { key: string } => screen.key !== undefined && isAvailable(screen));
