import { defineFeature } from '../../kit/feature.ts';
import { ReportCollector } from '../../kit/host-report/collector.ts';
import { findHubProblems, hubSettings } from '../../kit/hub.ts';
import { HubClient } from './hub-client.ts';
import { KeptReadings } from './kept-readings.ts';
import { Reporter } from './reporter.ts';

/** Feature that reports this server to a hub. */
export const reports = defineFeature({
  name: 'reports',
  profiles: [],
  settings: hubSettings,
  isOn: ({ hub }) => hub !== undefined,
  findProblems: findHubProblems,
  listSecretFiles: ({ hub }) => (hub?.keyFile === undefined ? [] : [{ name: 'hub.keyFile', path: hub.keyFile }]),
  create: async ({ settings: { hub }, offers, storage, host, version, clock, log }) => {
    if (!hub) return { profiles: {} };
    const kept = new KeptReadings(storage.file('hub.readings'));
    await kept.load();
    const collector = new ReportCollector(host, version, clock);
    const reporter = new Reporter({
      collector,
      client: new HubClient(hub),
      kept,
      watches: offers.watches,
      heartbeats: offers.heartbeats,
      commands: offers.commands,
      hub: new URL(hub.url).host,
      log,
      clock,
    });
    return {
      profiles: {},
      start: () => reporter.start(),
      reload: (changed) =>
        changed.hub?.url === hub.url && changed.hub.keyFile === hub.keyFile && changed.hub.ca === hub.ca
          ? []
          : ['Warning: hub has changed. Restart the server to apply it.'],
      close: () => reporter.close(),
    };
  },
});
