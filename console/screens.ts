import { alerts } from './alerts/index.ts';
import { audit } from './audit/index.ts';
import { commands } from './commands/index.ts';
import { deliveries } from './deliveries/index.ts';
import { instances } from './instances/index.ts';
import { items } from './items/index.ts';
import { isMounted } from './mounts.ts';
import { overview } from './overview/index.ts';
import { processes } from './processes/index.ts';
import type { Screen } from './screen.ts';
import { simpleTasks } from './simple-tasks/index.ts';
import { tasks } from './tasks/index.ts';

/** Every screen, in the order of the navigation. */
const screens: readonly Screen[] = [
  overview,
  alerts,
  tasks,
  commands,
  processes,
  audit,
  deliveries,
  items,
  simpleTasks,
  instances,
];

/** The screen with this address, whether its route is mounted or not. */
export const findScreen = (path: string): Screen | undefined => screens.find((screen) => screen.path === path);

/** The screens whose routes this server has. */
export const listScreens = (): Screen[] => screens.filter(({ needs }) => needs === undefined || isMounted(needs));
