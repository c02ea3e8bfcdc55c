import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { listTasks } from './calls.ts';

export const tasks: Screen = {
  path: '/tasks',
  title: text.titles.tasks,
  icon: 'tasks',
  key: 't',
  needs: listTasks,
  load: async () => (await import('../later.ts')).tasksView,
};
