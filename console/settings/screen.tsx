import type { ScreenView } from '../screen.ts';
export const settingsView: ScreenView = { Screen: () => null };
