import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { listTasks } from './calls.ts';
import { TaskControls, TasksScreen } from './screen.tsx';

export const tasks: Screen = {
  path: '/tasks',
  title: text.titles.tasks,
  icon: 'tasks',
  key: 't',
  needs: listTasks,
  Aside: TaskControls,
  Screen: TasksScreen,
};
