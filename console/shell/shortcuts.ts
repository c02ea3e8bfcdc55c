import { effect } from '@preact/signals';
import { singleKeys } from '../preferences.ts';
import { goTo } from '../router.ts';
import { listScreens } from '../screens.ts';
import { isPaletteOpen } from '../ui/palette.tsx';
import { isTyping, stepRow } from '../ui/row-shortcuts.ts';
import { isHelpOpen } from './help.tsx';

/** Milliseconds to wait for the letter after `g`. */
const patience = 1500;

let prefixAt = Number.NEGATIVE_INFINITY;

/** Handles global shortcuts. */
export const startShortcuts = (): void => {
  effect(() => {
    const handle = singleKeys.value ? handleAll : handlePalette;
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  });
};

const handlePalette = (event: KeyboardEvent): boolean => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 'k') return false;
  event.preventDefault();
  if (!document.querySelector('dialog[open]')) isPaletteOpen.value = true;
  return true;
};

const handleAll = (event: KeyboardEvent): void => {
  if (handlePalette(event) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
  if (runKey(event)) event.preventDefault();
};

const runKey = ({ key, timeStamp }: KeyboardEvent): boolean => {
  const isAfterPrefix = timeStamp - prefixAt < patience;
  prefixAt = key === 'g' && !isAfterPrefix ? timeStamp : Number.NEGATIVE_INFINITY;
  if (isAfterPrefix) {
    const screen = listScreens().find((each) => each.key === key);
    if (screen) goTo(screen.path);
    return screen !== undefined;
  }
  const action = actions[key];
  action?.();
  return action !== undefined;
};

const actions: Record<string, () => void> = {
  '/': () => document.querySelector<HTMLInputElement>('main input[type=search]')?.focus(),
  '?': () => {
    isHelpOpen.value = true;
  },
  j: () => stepRow(true),
  k: () => stepRow(false),
};
