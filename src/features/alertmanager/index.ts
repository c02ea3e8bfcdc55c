import { defineFeature } from '../../kit/feature.ts';
import { createAlertmanagerRoutes, createServerRoutes } from './routes.ts';

/** Alertmanager's API v2 for its clients: incidents as alerts, and silences. */
export const alertmanager = defineFeature({
  name: 'alertmanager',
  needs: ['incidents', 'silences'],
  profiles: [
    {
      name: 'alertmanager',
      aliases: ['incidents'],
      mounts: ['/'],
      summary: "incidents and silences for amtool, Grafana and Karma: Alertmanager's API v2",
      fixedAccess: 'closed',
    },
  ],
  settings: {},
  create: ({ offers: { incidents, silences }, version, clock }) => ({
    profiles: {
      alertmanager: [
        ...createAlertmanagerRoutes({ incidents, silences, clock }),
        ...createServerRoutes(version, clock()),
      ],
    },
  }),
});
