import { join } from 'node:path';
import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import type { Thing } from '../../kit/dependencies.ts';
import { defineFeature } from '../../kit/feature.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import { severities } from '../../kit/severity.ts';
import { createEventTopic } from '../../kit/topic.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { createHostChecks } from './checks.ts';
import { HostCodes } from './codes.ts';
import { createHostDependencies } from './dependencies.ts';
import { Fleet } from './fleet.ts';
import { HostCommandTable } from './host-command-table.ts';
import { HostCommands } from './host-commands.ts';
import { HostFiles } from './host-file.ts';
import { HostIncidents } from './host-incidents.ts';
import { createHostMetricsRoute } from './host-metrics.ts';
import { HostTable } from './host-table.ts';
import { HostWatch } from './host-watch.ts';
import { Hub } from './hub.ts';
import { assertOwnNames, ConfiguredHost, type HostKeeper, hostKind } from './kind.ts';
import { createOwnHost } from './own-host.ts';
import { createHostRoutes } from './routes.ts';
import { HostEvent } from './schema.ts';
import { Scraper } from './scraper.ts';
import { hostTransfer } from './transfer.ts';

/** Milliseconds between checks for reports and commands received by other instances. */
const catchUpMs = 2000;

const hostSettings = {
  silentSeconds: Type.Integer({
    minimum: 20,
    maximum: 86_400,
    default: 120,
    description: 'Seconds without a report after which a host is silent and an alert is raised.',
  }),
  silentLevel: Type.Enum(severities, {
    type: 'string',
    default: 'CRITICAL',
    description: 'Level of the alert about a silent host.',
  }),
  hosts: Type.Array(ConfiguredHost, {
    default: [],
    maxItems: 1000,
    description: 'Hosts, in addition to those created at run time.',
  }),
};

/** Feature for hosts: machines whose signalbox reports to this server. */
export const hosts = defineFeature({
  name: 'hosts',
  needs: ['settings', 'alerts', 'incidents', 'accounts', 'availability'],
  profiles: [{ name: 'hosts', mounts: ['/'], summary: 'machines that report to this server', fixedAccess: 'closed' }],
  settings: hostSettings,
  findProblems: ({ hosts: configured }) => {
    const names = configured.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((each) => each.toLowerCase()));
    return new Set(names).size < names.length ? ['each host needs a different name and different aliases'] : [];
  },
  transfer: hostTransfer,
  listThings: ({ hosts: configured }) =>
    configured.map(({ name, dependsOn }): Thing => ({ ref: `host/${name}`, dependsOn })),
  create: async ({ settings, offers, storage, host, version, clock, log }) => {
    const { database, directory } = storage;
    let { silentSeconds, silentLevel } = settings;
    // The log already has a line about the unavailable database.
    const warn = (message: string) => (err: unknown) => {
      if (!(err instanceof StoreUnavailable)) log.warn({ err }, message);
    };
    const silentMs = (): number => silentSeconds * 1000;
    const { dependencies } = offers.incidents;
    const keeper: HostKeeper = new SettingKeeper(hostKind, {
      settings: offers.settings,
      configured: settings.hosts,
      check: (known, current) => {
        assertOwnNames(known, current.list());
        dependencies.assertUsable(`host/${known.name}`, known);
      },
    });
    const fleet = new Fleet(database ? new HostTable(database) : new HostFiles(join(directory, 'hosts')), {
      // Other instances can delete hosts only in a shared store.
      isKept: (name) => !database || keeper.find(name) !== undefined,
      silentMs,
    });
    // Requests must wait for this, because each report builds on the previous state.
    await fleet.load().catch(warn('hosts: the last states of hosts cannot be read'));
    const lease = database ? createLease(database, 'hosts') : ownLease;
    const incidents = new HostIncidents(offers.incidents);
    const { topic, publish } = createEventTopic(needs('hosts:read'), HostEvent);
    const watch = new HostWatch({
      fleet,
      keeper,
      alerts: offers.alerts,
      lease,
      silentMs,
      silentLevel: () => silentLevel,
      clock,
      log,
    });
    const codes = new HostCodes(offers.settings, clock);
    const shared = database && new HostCommandTable(database, clock);
    const commands = shared ?? new HostCommands();
    const { accounts } = offers;
    const hub = new Hub({ fleet, keeper, codes, watch, commands, incidents, accounts, offers, dependencies, clock });
    const isRead = (): boolean => offers.settings.isRead();
    dependencies.add(createHostDependencies({ keeper, fleet, watch, silentMs, isRead }));
    offers.availability.record(
      createHostChecks({ keeper, fleet, watch, lease, silentMs, silentLevel: () => silentLevel, isRead, clock }),
    );
    const publishHost = (name: string): void => {
      const known = keeper.find(name);
      if (known) publish(() => hub.show(known));
    };
    fleet.onReport(publishHost);
    watch.onChanged(publishHost);
    let known = keeper.list();
    keeper.onChanged(() => {
      const before = new Map(known.map((each) => [each.name, each]));
      known = keeper.list();
      for (const each of known) {
        if (before.get(each.name) !== each) publishHost(each.name);
        before.delete(each.name);
      }
      for (const each of before.values()) publish(() => ({ ...hub.show(each), isDeleted: true }));
    });
    const own = createOwnHost({ fleet, keeper, host, version, clock, log });
    const scraper = new Scraper({ fleet, list: () => keeper.listConfigured(), lease, clock, log });
    const catchUp = async (queue: HostCommandTable): Promise<void> => {
      await fleet.catchUp();
      await queue.catchUp();
    };
    let following: NodeJS.Timeout | undefined;
    return {
      profiles: {
        hosts: [
          ...createHostRoutes({ hub, fleet, keeper, commands, clock }),
          createHostMetricsRoute({ hub, fleet, keeper }),
        ],
      },
      topics: { hosts: topic },
      offers: {
        hosts: {
          findTags: (name) => keeper.find(name)?.tags,
          listNames: (name) => hub.listNames(name),
          runCommand: (...given) => hub.runCommand(...given),
          listChecks: (watch) =>
            fleet
              .list()
              .flatMap(({ name, at, report }) =>
                (report.checks ?? [])
                  .filter((each) => each.watch === watch)
                  .map((each) => ({ ...each, host: name, at })),
              ),
        },
      },
      start: () => {
        incidents.load().catch(warn('hosts: the incidents of hosts cannot be counted'));
        watch.start();
        own.start();
        scraper.start();
        if (shared) following = setInterval(() => void catchUp(shared).catch(() => undefined), catchUpMs).unref();
      },
      reload: (changed) => {
        ({ silentSeconds, silentLevel } = changed);
        keeper.configure(changed.hosts, clock().getTime());
        return [];
      },
      close: async () => {
        clearInterval(following);
        await own.close();
        await scraper.close();
        await watch.close();
        await lease.close();
        await fleet.close();
      },
    };
  },
});
