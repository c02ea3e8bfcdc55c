import type { Static } from 'typebox';
import type { Status as Shape } from '../../src/profiles/status/schema.ts';
import { defineCall } from '../api.ts';

/** What needs attention now, the worst first. */
export type Status = Static<typeof Shape>;

/** As the topic `status` reports it too. */
export const getStatus = defineCall<Status>({
  ...{ profile: 'status', method: 'GET', path: '/api/status' },
  shape: { status: 'string', problems: [{ area: 'string', severity: 'string', text: 'string' }] },
});
