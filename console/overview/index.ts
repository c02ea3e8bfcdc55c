import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { RangeChoice } from './charts.tsx';
import { OverviewScreen } from './screen.tsx';

export const overview: Screen = {
  path: '/',
  title: text.titles.overview,
  icon: 'overview',
  key: 'o',
  Aside: RangeChoice,
  Screen: OverviewScreen,
};
