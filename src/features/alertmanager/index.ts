import { defineFeature } from '../../kit/feature.ts';
import { createAlertmanagerAlertRoutes } from './alert-routes.ts';
import { createAlertmanagerServerRoutes } from './server-routes.ts';
import { createAlertmanagerSilenceRoutes } from './silence-routes.ts';

/** Feature that serves Alertmanager's API v2 to existing clients: incidents as alerts, and silences. */
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
        ...createAlertmanagerAlertRoutes({ incidents, silences, clock }),
        ...createAlertmanagerSilenceRoutes({ incidents, silences, clock }),
        ...createAlertmanagerServerRoutes(version, clock()),
      ],
    },
  }),
});
