export const items = {
  id: 'Id',
  name: 'Name',
  status: 'Status',
  statuses: { active: 'Active', archived: 'Archived', created: 'Created' },
  empty: 'No items',
  emptyHint: 'Create one with POST /api/items.',
  shown: (from: string, to: string, total: string) => `${from} to ${to} of ${total} items`,
  none: (total: string) => `This page is empty; there are ${total} items.`,
  pages: 'Pages',
  previous: 'Previous page',
  next: 'Next page',
  first: 'First page',
};
