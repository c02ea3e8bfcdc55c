import type { ComponentType } from 'preact';
import type { RouteName } from './routes.ts';
import type { IconName } from './ui/icon.tsx';

/** What a screen shows. */
export interface ScreenView {
  /** Shown beside the heading, for example a choice of time ranges. */
  Aside?: ComponentType;
  Screen: ComponentType<{ rest: string }>;
}

/** Screens by what people do with them; the first has no name. */
export const groups = ['start', 'respond', 'watch', 'work', 'administer'] as const;
export type Group = (typeof groups)[number];

/** A screen of the console: one folder, one entry in screens.ts. */
export interface Screen {
  /** The address after `#`, e.g. `/alerts`; what follows it is `rest`. */
  path: string;
  /** The heading, and the link in the navigation. */
  title: string;
  icon: IconName;
  group: Group;
  /** The letter after `g` that goes there; without one, only links lead there, and no list of screens has it. */
  key?: string;
  /** The screen appears if this route is mounted; always without one. */
  needs?: RouteName;
  /** The navigation leaves the screen out while this says that it is empty; links and shortcuts still lead there. */
  isEmpty?: () => boolean;
  /** Loads its part of the program. */
  load: () => Promise<ScreenView>;
}
