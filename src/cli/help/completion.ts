import type { TObject } from 'typebox';
import type { Command } from '../command.ts';
import { createBashCompletion } from './bash.ts';
import { listCompleted } from './completion-data.ts';
import { createFishCompletion } from './fish.ts';
import { createZshCompletion } from './zsh.ts';

const creators = { bash: createBashCompletion, zsh: createZshCompletion, fish: createFishCompletion };

/** The completion script for a shell. */
export const createCompletion = (
  shell: keyof typeof creators,
  commands: readonly Command[],
  schema: TObject,
  profiles: readonly string[],
): string => creators[shell](listCompleted(commands, schema, profiles));
