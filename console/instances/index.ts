import { listInstances } from '../calls/instances.ts';
import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { InstancesScreen } from './screen.tsx';

export const instances: Screen = {
  path: '/instances',
  title: text.titles.instances,
  icon: 'instances',
  key: 'n',
  needs: listInstances,
  Screen: InstancesScreen,
};
