import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';

export const processes: Screen = {
  path: '/processes',
  title: text.titles.processes,
  icon: 'processes',
  key: 'p',
  needs: { profile: 'monitoring', method: 'GET', path: '/api/processes' },
  load: async () => (await import('../later.ts')).processesView,
};
