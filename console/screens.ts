import { filledLists } from './live/filled-lists.ts';
import { hasHosts } from './live/hosts.ts';
import { overviewView } from './overview/screen.tsx';
import { isAllowed, isMounted, type RouteName } from './routes.ts';
import type { Group, Screen, ScreenView } from './screen.ts';
import { text } from './strings/index.ts';
import type { IconName } from './ui/icon.tsx';

const { titles } = text;

/** Loads a screen that is not part of the first load. */
const later = (view: keyof typeof import('./later.ts')) => async (): Promise<ScreenView> =>
  (await import('./later.ts'))[view];

/** Names of screens whose path, icon, title and view have the same name. */
type ScreenName = Exclude<keyof typeof titles & IconName, 'overview'>;

const entry = (name: ScreenName, group: Group, key: string, needs: RouteName): Screen => ({
  path: `/${name}`,
  title: titles[name],
  icon: name,
  group,
  key,
  needs,
  load: later(`${name}View`),
});

/** All screens, in navigation order. */
const screens: readonly Screen[] = [
  { path: '/', title: titles.overview, icon: 'overview', group: 'start', key: 'o', load: async () => overviewView },
  entry('incidents', 'respond', 'n', 'listIncidents'),
  {
    path: '/hosts',
    title: titles.hosts,
    icon: 'instances',
    group: 'respond',
    key: 'm',
    needs: 'listHosts',
    isEmpty: () => !hasHosts.value,
    load: later('hostsView'),
  },
  entry('alerts', 'respond', 'a', 'listAlerts'),
  entry('silences', 'respond', 'q', 'listSilences'),
  {
    path: '/oncall',
    title: titles.onCall,
    icon: 'user',
    group: 'respond',
    key: 'r',
    needs: 'listRotations',
    load: later('onCallView'),
  },
  entry('notifications', 'respond', 'd', 'listDeliveries'),
  entry('watches', 'watch', 'w', 'listWatches'),
  entry('heartbeats', 'watch', 'b', 'listHeartbeats'),
  {
    path: '/availability',
    title: titles.availability,
    icon: 'check',
    group: 'watch',
    key: 'v',
    needs: 'listAvailability',
    load: later('availabilityView'),
  },
  entry('processes', 'watch', 'p', 'listProcesses'),
  entry('instances', 'watch', 'h', 'listInstances'),
  entry('tasks', 'work', 't', 'listTasks'),
  entry('commands', 'work', 'c', 'runCommand'),
  { ...entry('items', 'work', 'i', 'listItems'), isEmpty: () => !filledLists.value.items },
  {
    path: '/simple-tasks',
    title: titles.simpleTasks,
    icon: 'tasks',
    group: 'work',
    key: 's',
    needs: 'listTasksAtSimple',
    isEmpty: () => !filledLists.value.simpleTasks,
    load: later('simpleTasksView'),
  },
  entry('connect', 'administer', 'l', 'createAlert'),
  entry('settings', 'administer', 'e', 'listSessions'),
  entry('audit', 'administer', 'u', 'listExecutions'),
  { path: '/setup', title: titles.setup, icon: 'user', group: 'administer', needs: 'setUp', load: later('setupView') },
];

const isAvailable = ({ needs }: Screen): boolean => needs === undefined || isMounted(needs);

/** Returns the screen with this path, whether it is mounted or not. */
const findScreen = (path: string): Screen | undefined => screens.find((screen) => screen.path === path);

/** Returns the screen with this path, if its route is mounted. */
export const findAvailable = (path: string): Screen | undefined => {
  const screen = findScreen(path);
  return screen && isAvailable(screen) ? screen : undefined;
};

/** Screens in the navigation: mounted screens that the current user may open. */
export const listScreens = (): (Screen & { key: string })[] =>
  screens.filter(
    (screen): screen is Screen & { key: string } =>
      screen.key !== undefined && (screen.needs === undefined || isAllowed(screen.needs)),
  );
