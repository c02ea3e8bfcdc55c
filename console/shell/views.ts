import { signal } from '@preact/signals';
import type { Screen, ScreenView } from '../screen.ts';
import { listScreens } from '../screens.ts';

/** What the screens show, by their paths, as far as it is loaded. */
const views = signal<Record<string, ScreenView | 'failed'>>({});

/** What a screen shows; undefined while it is being loaded. */
export const findView = ({ path }: Screen): ScreenView | 'failed' | undefined => views.value[path];

/** Loads what a screen shows, unless it is there. */
export const loadView = async ({ path, load }: Screen): Promise<void> => {
  const known = views.peek()[path];
  if (known && known !== 'failed') return;
  const view = await load().catch(() => 'failed' as const);
  views.value = { ...views.peek(), [path]: view };
};

/** Loads all screens, so that a change of screen needs no server. */
export const loadViews = async (): Promise<void> => {
  for (const screen of listScreens()) await loadView(screen);
};
