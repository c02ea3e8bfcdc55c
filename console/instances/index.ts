import { listInstances } from '../calls/instances.ts';
import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';

export const instances: Screen = {
  path: '/instances',
  title: text.titles.instances,
  icon: 'instances',
  key: 'n',
  needs: listInstances,
  load: async () => (await import('../later.ts')).instancesView,
};
