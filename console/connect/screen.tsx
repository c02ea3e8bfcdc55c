import type { ScreenView } from '../screen.ts';
export const connectView: ScreenView = { Screen: () => null };
