import type { Feature } from '../kit/feature.ts';
import { about } from './about/index.ts';
import { accounts } from './accounts/index.ts';
import { alertmanager } from './alertmanager/index.ts';
import { alerts } from './alerts/index.ts';
import { availability } from './availability/index.ts';
import { commands } from './commands/index.ts';
import { webConsole } from './console/index.ts';
import { events } from './events/index.ts';
import { heartbeats } from './heartbeats/index.ts';
import { history } from './history/index.ts';
import { hosts } from './hosts/index.ts';
import { incidents } from './incidents/index.ts';
import { instances } from './instances/index.ts';
import { items } from './items/index.ts';
import { metrics } from './metrics/index.ts';
import { monitoring } from './monitoring/index.ts';
import { notifications } from './notifications/index.ts';
import { pictures } from './pictures/index.ts';
import { reports } from './reports/index.ts';
import { runtimeSettings } from './settings/index.ts';
import { silences } from './silences/index.ts';
import { simpleTasks } from './simple-tasks/index.ts';
import { status } from './status/index.ts';
import { statusPages } from './status-pages/index.ts';
import { tasks } from './tasks/index.ts';
import { watches } from './watches/index.ts';

/** All features, one for each folder next to this file. Features are not discovered automatically. */
export const features: readonly Feature[] = [
  monitoring,
  tasks,
  simpleTasks,
  items,
  runtimeSettings,
  accounts,
  alerts,
  silences,
  incidents,
  availability,
  heartbeats,
  notifications,
  alertmanager,
  commands,
  metrics,
  history,
  watches,
  pictures,
  hosts,
  reports,
  status,
  statusPages,
  events,
  instances,
  about,
  webConsole,
];
