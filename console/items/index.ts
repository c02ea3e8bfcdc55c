import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { ItemsScreen } from './screen.tsx';

export const items: Screen = {
  path: '/items',
  title: text.titles.items,
  icon: 'items',
  key: 'i',
  needs: { profile: 'items', method: 'GET', path: '/api/items' },
  Screen: ItemsScreen,
};
