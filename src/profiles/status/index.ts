import { createSharedReading } from '../../host/sampler.ts';
import { defineFeature } from '../feature.ts';
import { defineRoute } from '../route.ts';
import { createPolledTopic } from '../topic.ts';
import { findHostConcerns } from './host-concerns.ts';
import { createLastMinute } from './last-minute.ts';
import { Status } from './schema.ts';
import { isSameStatus, toStatus } from './summary.ts';

/** Milliseconds between two summaries for listeners. */
const interval = 1000;

/** Milliseconds for which a reading of the disks is used. */
const diskMaxAge = 60_000;

/** Whether the machine and the service are well, in words that everybody may read. */
export const status = defineFeature({
  name: 'status',
  profiles: [{ name: 'status', mounts: ['/'], summary: 'what needs attention now' }],
  settings: {},
  create: ({ host, findConcerns, clock }) => {
    const lastMinute = createLastMinute();
    const readDisks = createSharedReading(() => host.fixedDisks(), diskMaxAge);
    const read = async (): Promise<Status> => {
      const [concerns, disks] = await Promise.all([findConcerns(), readDisks().catch(() => [])]);
      const means = lastMinute.means();
      return toStatus([...concerns, ...findHostConcerns(means, disks)], means, clock());
    };
    let last: Status | undefined;
    /** The last one again, with its time, if nothing has changed since. */
    const readChange = async (): Promise<Status> => {
      const next = await read();
      if (!last || !isSameStatus(last, next)) last = next;
      return last;
    };
    let leave: (() => void) | undefined;
    return {
      profiles: {
        status: [
          defineRoute({
            method: 'GET',
            path: '/api/status',
            access: 'open',
            summary: 'Report what needs attention now',
            schema: { operationId: 'getStatus', response: { 200: Status } },
            handler: read,
          }),
        ],
      },
      topics: { status: createPolledTopic('open', Status, interval, readChange, { onlyChanges: true }) },
      start: () => {
        leave = host.listen(({ at, counters }) => lastMinute.add(at / 1000, counters));
      },
      close: async () => leave?.(),
    };
  },
});
