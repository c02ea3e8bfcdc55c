import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

/** What the user chose about how the console looks and behaves; kept in this browser. */
interface Preferences {
  theme: Theme;
  /** Whether keys such as `g` and `/` do something by themselves. */
  singleKeys: boolean;
  /** Whose time zone times are shown in. */
  zone: 'browser' | 'server';
  /** Whether new incidents are reported on the desktop while the page is hidden. */
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
    // The browser allows no storage: the choice holds until the page is left.
  }
};

const stored = read();
export const theme = signal<Theme>(stored.theme);
export const singleKeys = signal(stored.singleKeys);
export const zoneChoice = signal<Preferences['zone']>(stored.zone);
export const desktopNotices = signal(stored.desktopNotices);

/** True while the page is dark, by choice or by the system's setting. */
export const isDark = signal(false);

/** Applies the preferences now and whenever they change. */
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
      desktopNotices: desktopNotices.value,
    });
  });
};
