import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';

export const audit: Screen = {
  path: '/audit',
  title: text.titles.audit,
  icon: 'audit',
  key: 'u',
  needs: { profile: 'commands', method: 'GET', path: '/api/executions' },
  load: async () => (await import('../later.ts')).auditView,
};
