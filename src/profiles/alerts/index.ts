import { defineFeature } from '../feature.ts';
import { readTime } from './alert.ts';
import { createReadingRoutes } from './reading/routes.ts';
import { createAlertRoutes } from './routes.ts';
import { alertSettings } from './settings.ts';

/** Profile X, first half: stores alerts durably and lists the last ones. */
export const alerts = defineFeature({
  name: 'alerts',
  profiles: [{ name: 'alerts', alias: 'X', mounts: ['/'], summary: 'durable alert intake and listing' }],
  settings: alertSettings,
  create: async ({ openLog, clock, settings }) => {
    const journal = await openLog('alert log', {
      name: 'alerts',
      segmentBytes: settings.alertsSegmentBytes,
      retainSegments: settings.alertsRetainSegments,
      retainBytes: settings.alertsRetainBytes,
      retainDays: settings.alertsRetainDays,
      queueCount: settings.alertsQueueCount,
      queueBytes: settings.alertsQueueBytes,
      minFreeBytes: settings.alertsMinFreeBytes,
      sync: settings.alertsSync,
      indexing: {
        timeOf: readTime,
        keyOf: ({ level }) => (typeof level === 'string' ? level : ''),
        keys: ['CRITICAL', 'ERROR', 'WARNING', 'INFO'],
      },
    });
    const access = settings.alertsAuth === 'bearer' ? 'token' : 'open';
    return {
      profiles: {
        alerts: [...createAlertRoutes(journal, clock, access), ...createReadingRoutes({ journal, clock, access })],
      },
      close: () => journal.close(),
      reopen: () => journal.reopen(),
    };
  },
});
