import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';

export const simpleTasks: Screen = {
  path: '/simple-tasks',
  title: text.titles.simpleTasks,
  icon: 'tasks',
  key: 's',
  needs: { profile: 'simple-tasks', method: 'GET', path: '/api/tasks' },
  load: async () => (await import('../later.ts')).simpleTasksView,
};
