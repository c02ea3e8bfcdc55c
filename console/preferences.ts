import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

/** The user's console preferences, stored in the browser. */
interface Preferences {
  theme: Theme;
  /** True if single-key shortcuts such as `g` and `/` are on. */
  singleKeys: boolean;
  /** Displayed time zone. */
  zone: 'browser' | 'server';
  /** True if new incidents are reported on the desktop while the page is hidden. */
  desktopNotices: boolean;
}

const storageKey = 'signalbox-preferences';

const read = (): Preferences => {
  const defaults: Preferences = { theme: 'auto', singleKeys: true, zone: 'browser', desktopNotices: false };
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(storageKey) ?? '{}') };
  } catch {
    return defaults;
  }
};

const write = (chosen: Preferences): void => {
  try {
    localStorage.setItem(storageKey, JSON.stringify(chosen));
  } catch {
    // The browser blocks storage, so the choice lasts only until the page is closed.
  }
};

const stored = read();
export const theme = signal<Theme>(stored.theme);
export const singleKeys = signal(stored.singleKeys);
export const zoneChoice = signal<Preferences['zone']>(stored.zone);
export const desktopNotifications = signal(stored.desktopNotices);

/** True in dark mode, whether set by the user or by the system. */
export const isDark = signal(false);

/** Applies the preferences now and after each change. */
export const startPreferences = (): void => {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const systemIsDark = signal(system.matches);
  system.addEventListener('change', () => {
    systemIsDark.value = system.matches;
  });
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    isDark.value = theme.value === 'dark' || (theme.value === 'auto' && systemIsDark.value);
  });
  effect(() => {
    write({
      theme: theme.value,
      singleKeys: singleKeys.value,
      zone: zoneChoice.value,
      desktopNotices: desktopNotifications.value,
    });
  });
};
