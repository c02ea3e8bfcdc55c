import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';

export const items: Screen = {
  path: '/items',
  title: text.titles.items,
  icon: 'items',
  key: 'i',
  needs: { profile: 'items', method: 'GET', path: '/api/items' },
  load: async () => (await import('../later.ts')).itemsView,
};
