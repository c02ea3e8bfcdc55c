import type { Static } from 'typebox';
import type { ExecutionList, Execution as Shape } from '../../src/profiles/commands/schema.ts';
import { defineCall } from '../api.ts';

/** A command that was run or refused. */
export type Execution = Static<typeof Shape>;

/** Oldest first. */
export const listExecutions = defineCall<Pick<Static<typeof ExecutionList>, 'data'>>({
  ...{ profile: 'commands', method: 'GET', path: '/api/executions' },
  shape: {
    data: [
      {
        ...{ time: 'string', requestId: 'string', user: 'string?', role: 'string?', remoteAddress: 'string' },
        ...{ command: 'string', parameters: 'object?', decision: 'string', reason: 'string?', exit: 'string?' },
        ...{ durationMs: 'number?', rows: 'number?' },
      },
    ],
  },
});
