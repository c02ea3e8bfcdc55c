import type { Tool } from '../feature.ts';
import { Refusal } from './language/refusal.ts';
import { checkCommand } from './policy/check.ts';

/** `signalbox check-command LINE`: what POST /api/execute would say to the line, without running it. */
export const checkTool: Tool = {
  name: 'check-command',
  argument: 'LINE',
  summary: 'say whether a command line is allowed, and how it is read, or why it is refused; runs nothing',
  run: (line) => {
    const command = checkCommand(line);
    if (command instanceof Refusal) return { output: `refused: ${command.reason}`, ok: false };
    return { output: `allowed: ${command.name} ${JSON.stringify(command.parameters)}`, ok: true };
  },
};
