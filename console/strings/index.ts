import { alerts } from './alerts.ts';
import { audit } from './audit.ts';
import { commands } from './commands.ts';
import { incidents } from './incidents.ts';
import { instances } from './instances.ts';
import { items } from './items.ts';
import { notifications } from './notifications.ts';
import { overview } from './overview.ts';
import { processes } from './processes.ts';
import { shell } from './shell.ts';
import { silences } from './silences.ts';
import { simpleTasks } from './simple-tasks.ts';
import { tasks } from './tasks.ts';

/** Every text that the console shows, by screen; watches and heartbeats, which have many, load theirs with the screen. */
export const text = {
  ...shell,
  overview,
  processes,
  alerts,
  audit,
  notifications,
  silences,
  items,
  incidents,
  instances,
  simpleTasks,
  tasks,
  commands,
};
