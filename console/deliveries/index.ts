import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';

export const deliveries: Screen = {
  path: '/deliveries',
  title: text.titles.deliveries,
  icon: 'deliveries',
  key: 'd',
  needs: { profile: 'alerts', method: 'GET', path: '/api/deliveries' },
  load: async () => (await import('../later.ts')).deliveriesView,
};
