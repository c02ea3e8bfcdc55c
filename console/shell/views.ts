import { signal } from '@preact/signals';
import type { Screen, ScreenView } from '../screen.ts';
import { listScreens } from '../screens.ts';

/** Loaded views of screens by path. */
const views = signal<Record<string, ScreenView | 'failed'>>({});

/** Returns the view of a screen. Undefined until loaded. */
export const findView = ({ path }: Screen): ScreenView | 'failed' | undefined => views.value[path];

/** Loads the view of a screen once. */
export const loadView = async ({ path, load }: Screen): Promise<void> => {
  const known = views.peek()[path];
  if (known && known !== 'failed') return;
  const view = await load().catch(() => 'failed' as const);
  views.value = { ...views.peek(), [path]: view };
};

/** Loads all screens, so that navigation works without the server. */
export const loadViews = async (): Promise<void> => {
  for (const screen of listScreens()) await loadView(screen);
};
