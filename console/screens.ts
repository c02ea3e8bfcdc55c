import { alertsView } from './alerts/screen.tsx';
import { overviewView } from './overview/screen.tsx';
import { isMounted, type RouteName } from './routes.ts';
import type { Screen, ScreenView } from './screen.ts';
import { text } from './strings/index.ts';
import type { IconName } from './ui/icon.tsx';

const { titles } = text;

/** Loads a screen that is not among the first. */
const later = (view: keyof typeof import('./later.ts')) => async (): Promise<ScreenView> =>
  (await import('./later.ts'))[view];

/** Whose address, icon and view have the name of the title. */
type ScreenName = Exclude<keyof typeof titles & IconName, 'overview' | 'alerts'>;

const entry = (name: ScreenName, key: string, needs: RouteName): Screen => ({
  ...{ path: `/${name}`, title: titles[name], icon: name, key, needs },
  load: later(`${name}View`),
});

/** Every screen, in the order of the navigation. */
const screens: readonly Screen[] = [
  { path: '/', title: titles.overview, icon: 'overview', key: 'o', load: async () => overviewView },
  entry('incidents', 'n', 'listIncidents'),
  {
    ...{ path: '/alerts', title: titles.alerts, icon: 'alerts', key: 'a', needs: 'listAlerts' },
    load: async () => alertsView,
  },
  entry('watches', 'w', 'listWatches'),
  entry('heartbeats', 'b', 'listHeartbeats'),
  entry('tasks', 't', 'listTasks'),
  entry('commands', 'c', 'listCommands'),
  entry('silences', 'q', 'listSilences'),
  entry('notifications', 'd', 'listDeliveries'),
  entry('processes', 'p', 'listProcesses'),
  entry('audit', 'u', 'listExecutions'),
  entry('items', 'i', 'listItems'),
  {
    ...{ path: '/simple-tasks', title: titles.simpleTasks, icon: 'tasks', key: 's' },
    ...{ needs: 'listTasksAtSimple', load: later('simpleTasksView') },
  },
  entry('instances', 'h', 'listInstances'),
  entry('connect', 'l', 'createAlert'),
  entry('settings', 'e', 'listSessions'),
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
