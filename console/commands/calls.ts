import type { Static } from 'typebox';
import type { CommandList as ListShape, CommandResult as ResultShape } from '../../src/profiles/commands/schema.ts';
import { defineCall } from '../api.ts';

export type CommandList = Static<typeof ListShape>;
export type CommandDescription = CommandList['commands'][number];
/** One object of a result. */
export type Cells = Record<string, unknown>;
export type CommandResult = Pick<Static<typeof ResultShape>, 'truncated'> & { result: Cells[] };

const profile = 'commands';

export const listCommands = defineCall<CommandList>({
  ...{ profile, method: 'GET', path: '/api/commands' },
  shape: { runner: 'string', commands: [{ name: 'string', summary: 'string', parameters: 'object' }] },
});

export const runCommand = defineCall<CommandResult>({
  ...{ profile, method: 'POST', path: '/api/execute' },
  shape: { success: 'boolean', command: 'string', result: ['object'] },
});
