import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { alertsView } from './screen.tsx';

export const alerts: Screen = {
  path: '/alerts',
  title: text.titles.alerts,
  icon: 'alerts',
  key: 'a',
  needs: { profile: 'alerts', method: 'GET', path: '/api/alerts' },
  load: async () => alertsView,
};
