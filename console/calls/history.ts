import type { Static } from 'typebox';
import type { History as HistoryShape } from '../../src/profiles/history/schema.ts';
import { defineCall } from '../api.ts';

/** Readings of the machine: the lists have one value for each step. Shares are 0 to 1, sizes bytes. */
export type History = Static<typeof HistoryShape>;

const values = 'object';

export const getHistory = defineCall<History>({
  ...{ profile: 'history', method: 'GET', path: '/api/history' },
  shape: {
    ...{ step: 'number', start: 'string', count: 'number', alerts: 'object' },
    ...{ cpu: values, memoryUsed: values, memoryTotal: values, load: values },
    ...{ networkReceived: values, networkSent: values },
    disks: [{ mountPath: 'string', used: values, total: values }],
  },
});
