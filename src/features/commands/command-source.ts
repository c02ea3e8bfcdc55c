import { HttpError } from '../../http/errors.ts';
import type { CommandSource } from '../../kit/offers.ts';
import type { Executor } from './executor.ts';
import { CommandFailure } from './runner.ts';

/** Creates the source of commands for the hub that this server reports to. */
export const createCommandSource = (executor: Executor): CommandSource => ({
  execute: async (line, { by, requestId, hub }) => {
    const caller = { requestId: requestId.slice(0, 200), user: by, role: null, remoteAddress: hub };
    try {
      const { rows, truncated } = await executor.execute(line, caller, new AbortController().signal);
      return { rows: rows.map((row) => JSON.parse(row)), truncated };
    } catch (error) {
      const isForPeople = error instanceof HttpError || error instanceof CommandFailure;
      return { error: isForPeople ? error.message : 'the command failed on the host' };
    }
  },
});
