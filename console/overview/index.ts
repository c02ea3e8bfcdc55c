import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { overviewView } from './screen.tsx';

export const overview: Screen = {
  path: '/',
  title: text.titles.overview,
  icon: 'overview',
  key: 'o',
  load: async () => overviewView,
};
