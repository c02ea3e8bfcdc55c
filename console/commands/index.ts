import type { Screen } from '../screen.ts';
import { text } from '../strings/index.ts';
import { listCommands } from './calls.ts';
import { CommandsScreen } from './screen.tsx';

export const commands: Screen = {
  path: '/commands',
  title: text.titles.commands,
  icon: 'commands',
  key: 'c',
  needs: listCommands,
  Screen: CommandsScreen,
};
