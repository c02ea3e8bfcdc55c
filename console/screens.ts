import { filledLists } from './live/filled-lists.ts';
import { overviewView } from './overview/screen.tsx';
import { isAllowed, isMounted, type RouteName } from './routes.ts';
import type { Group, Screen, ScreenView } from './screen.ts';
import { text } from './strings/index.ts';
import type { IconName } from './ui/icon.tsx';

const { titles } = text;

/** Loads a screen that is not among the first. */
const later = (view: keyof typeof import('./later.ts')) => async (): Promise<ScreenView> =>
  (await import('./later.ts'))[view];

/** Whose address, icon and view have the name of the title. */
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

/** Every screen, in the order of the navigation. */
const screens: readonly Screen[] = [
  { path: '/', title: titles.overview, icon: 'overview', group: 'start', key: 'o', load: async () => overviewView },
  entry('incidents', 'respond', 'n', 'listIncidents'),
  entry('alerts', 'respond', 'a', 'listAlerts'),
  entry('silences', 'respond', 'q', 'listSilences'),
  entry('notifications', 'respond', 'd', 'listDeliveries'),
  entry('watches', 'watch', 'w', 'listWatches'),
  entry('heartbeats', 'watch', 'b', 'listHeartbeats'),
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

/** The screen with this address, whether its route is mounted or not. */
export const findScreen = (path: string): Screen | undefined => screens.find((screen) => screen.path === path);

/** The screen with this address, if this server has its routes. */
export const findAvailable = (path: string): Screen | undefined => {
  const screen = findScreen(path);
  return screen && isAvailable(screen) ? screen : undefined;
};

/** The screens to choose from: those whose routes this server has, for the present user. */
export const listScreens = (): (Screen & { key: string })[] =>
  screens.filter(
    (screen): screen is Screen & { key: string } =>
      screen.key !== undefined && (screen.needs === undefined || isAllowed(screen.needs)),
  );
