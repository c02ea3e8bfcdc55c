import { defineFeature } from '../feature.ts';
import { createEventRoute } from './routes.ts';

/** What changes, while it does: topics of the other features as server-sent events, with a comment each `commentMs`. */
export const createEvents = (commentMs: number) =>
  defineFeature({
    name: 'events',
    profiles: [{ name: 'events', mounts: ['/'], summary: 'changes as server-sent events' }],
    settings: {},
    create: ({ topics, authorize, meters }) => {
      const { route, endRevoked, endAll } = createEventRoute({ topics, authorize, meters }, commentMs);
      return {
        profiles: { events: [route] },
        stop: endAll,
        // Keys and users were loaded before.
        reload: () => {
          endRevoked();
          return [];
        },
      };
    },
  });

export const events = createEvents(15_000);
