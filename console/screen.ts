import type { ComponentType } from 'preact';
import type { RouteName } from './routes.ts';
import type { IconName } from './ui/icon.tsx';

export interface ScreenView {
  /** Controls next to the heading, for example a choice of time ranges. */
  Aside?: ComponentType;
  Screen: ComponentType<{ rest: string }>;
}

/** Groups of screens in the navigation. The first group has no heading. */
export const screenGroups = ['start', 'respond', 'watch', 'work', 'administer'] as const;
export type Group = (typeof screenGroups)[number];

/** Screen of the console: a folder with an entry in screens.ts. */
export interface Screen {
  /** Path after `#`, such as `/alerts`. `rest` contains the remainder of the URL's path. */
  path: string;
  /** Title for the heading and the navigation. */
  title: string;
  icon: IconName;
  group: Group;
  /**
   * Letter after `g` that opens the screen. A screen without a letter can be reached only through links, not from the
   * navigation.
   */
  key?: string;
  /** Route that must be mounted. Undefined for screens that are always shown. */
  needs?: RouteName;
  /**
   * True if the screen has nothing to show. The navigation then omits the screen, but links and shortcuts still work.
   */
  isEmpty?: () => boolean;
  /** Loads the screen's module. */
  load: () => Promise<ScreenView>;
}
