import { countedOf } from './count.ts';

export const simpleTaskTexts = {
  id: 'Id',
  title: 'Title',
  status: 'Status',
  statuses: { done: 'Done', pending: 'Pending' },
  filter: 'Title contains',
  empty: 'No simple tasks',
  emptyHint: 'Create tasks with POST /api/tasks below the base of the profile.',
  noMatch: 'No matching tasks',
  shown: (shown: string, all: string) => countedOf(shown, all, 'task'),
};
