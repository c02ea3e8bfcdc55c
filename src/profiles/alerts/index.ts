import { defineFeature } from '../profile.ts';
import { openAlertLog } from './alert-log.ts';
import { createAlertRoutes } from './routes.ts';
import { alertSettings } from './settings.ts';

/** Profile X, first half: takes alerts in, keeps them on disk, lists the last ones. */
export const alerts = defineFeature({
  name: 'alerts',
  profiles: [{ name: 'alerts', alias: 'X', summary: 'durable alert intake and listing' }],
  settings: alertSettings,
  create: async ({ dataDir, clock, log, settings }) => {
    const journal = await openAlertLog(dataDir, settings, log);
    const access = settings.alertsAuth === 'bearer' ? 'token' : 'open';
    return {
      profiles: { alerts: createAlertRoutes(journal, clock, access) },
      close: () => journal.close(),
      reopen: () => journal.reopen(),
    };
  },
});
