import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { listCommands } from './calls.ts';

export const commands: Screen = {
  path: '/commands',
  title: text.titles.commands,
  icon: 'commands',
  key: 'c',
  needs: listCommands,
  load: async () => (await import('../later.ts')).commandsView,
};
