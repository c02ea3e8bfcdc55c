import { counted } from './count.ts';

export const itemTexts = {
  id: 'Id',
  name: 'Name',
  status: 'Status',
  statuses: { active: 'Active', archived: 'Archived', created: 'Created' },
  empty: 'No items',
  emptyHint: 'Programs create items with POST /api/items.',
  shown: (from: string, to: string, total: string) => `${from} to ${to} of ${counted(total, 'item')}`,
  none: (total: string) => `This page is empty: there ${total === '1' ? 'is' : 'are'} ${counted(total, 'item')}.`,
  pages: 'Pages',
  previous: 'Previous page',
  next: 'Next page',
  first: 'First page',
};
