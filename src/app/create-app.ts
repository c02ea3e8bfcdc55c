import { resolve } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { createAccessKeys } from '../auth/access-keys.ts';
import { createAuthorize, createGuard } from '../auth/guard.ts';
import { createTokens } from '../auth/token.ts';
import { readCertificate } from '../config/certificate.ts';
import type { Settings } from '../config/schema.ts';
import { createHostReadings } from '../host/index.ts';
import { renewCertificate } from '../http/connection/tls.ts';
import { serveOpenApi } from '../http/routes/openapi.ts';
import { serveMissingPages, serveProgramPages } from '../http/routes/program-pages.ts';
import { serveStaticFiles } from '../http/routes/static-files.ts';
import { createServer } from '../http/server.ts';
import { createMeters } from '../metrics/meters.ts';
import { addProcessMeters } from '../metrics/process-meters.ts';
import type { Feature, FeatureInstance, Parts } from '../profiles/feature.ts';
import type { Topic } from '../profiles/topic.ts';
import { isPostgresUrl } from '../storage/postgres/connecting/address.ts';
import { createSnapshot } from '../storage/snapshot.ts';
import { createChangesOpener } from './changes-opener.ts';
import { createLogOpener } from './journal-opener.ts';
import { type BuiltMount, buildMounts, type MountedProfile } from './mounts/build.ts';
import { registerMounts } from './mounts/register.ts';
import { readProgramFile, version } from './package-info.ts';
import { pickOwn } from './pick-own.ts';
import { assertReloadable, preflight } from './preflight.ts';
import { nameInstance, openDatabase } from './shared-store.ts';

interface Dependencies {
  log: FastifyBaseLogger;
  nodeVersion: string;
  features: readonly Feature[];
}

export interface App {
  /** Ready to listen; closing it completes acknowledged work and releases everything. */
  server: FastifyInstance;
  mounts: BuiltMount[];
  /** The path of the pages that `GET /` redirects to. */
  home: string;
  /** Messages to print once, on startup. */
  notices: string[];
  /** Reopens files after another program moved them, and reads the certificate again. */
  reopen(): Promise<void>;
  /** Applies settings that can change at runtime; returns messages to print. If it throws, nothing has changed. */
  reload(settings: Settings): string[];
}

/** The whole server for the given settings, not listening yet. Throws a SettingsError for invalid ones. */
export const createApp = async (settings: Settings, { log, nodeVersion, features }: Dependencies): Promise<App> => {
  const plan = preflight(settings, features);
  const { mounted, powerShellPaths, records, maxConnections, certificate } = plan;
  if (plan.warning !== undefined) log.warn(plan.warning);
  const host = createHostReadings();
  const meters = createMeters();
  addProcessMeters(meters);
  const clock = () => new Date();
  const tokens = createTokens(plan.keys, settings.jwtIssuer, clock);
  const { host: address, allowedHosts, cors, trustProxy } = settings;
  const { requestTimeout, headersTimeout, maxEventLoopDelay } = settings;
  const instanceName = nameInstance(settings, host.hostname());
  const server = createServer({
    ...{ host: address, machine: host.hostname(), allowedHosts, cors, trustProxy, certificate, log },
    ...{ requestTimeout, headersTimeout, maxConnections, maxEventLoopDelay, meters },
    ...(isPostgresUrl(settings.store) && { instance: instanceName }),
  });
  server.addHook('onClose', async () => host.close());
  try {
    const database = await openDatabase(settings, { name: instanceName, version, log, meters });
    server.addHook('preClose', async () => database?.stop());
    server.addHook('onClose', async () => database?.close());
    const openLog = createLogOpener(resolve(settings.dataDir), log, meters);
    const { openChanges, reopen } = createChangesOpener(settings, openLog, log);
    const openSnapshot = (name: string) => createSnapshot(resolve(settings.dataDir), name);
    const keys = createAccessKeys(settings.keys);
    const authorize = createAuthorize(tokens, keys);
    const topics = new Map<string, Topic>();
    const listUnavailable = async (): Promise<string[]> => {
      const ready = await Promise.all(instances.map(({ instance }) => instance.isReady?.() ?? true));
      return instances.filter((_, index) => !ready[index]).map(({ feature }) => feature.name);
    };
    const shared = { meters, authorize, topics: () => topics, listUnavailable };
    const own = { version, nodeVersion, readProgramFile, ...shared };
    const storage = { database, openLog, openChanges, openSnapshot };
    const parts = { ...own, ...storage, clock, host, log, powerShellPaths, tokens, records };
    const instances = await createInstances(server, mounted, settings, parts);
    for (const { instance } of instances) {
      for (const [name, topic] of Object.entries(instance.topics ?? {})) topics.set(name, topic);
    }
    const mounts = buildMounts(plan.mounts, instances.flatMap(listProfiles));
    const guard = createGuard(server, authorize);
    serveOpenApi(server, version, listTags(mounted));
    const docs = { prefix: '/docs/', policy: pagePolicy };
    if (plan.publicFolder !== undefined) await serveStaticFiles(server, { ...docs, root: plan.publicFolder });
    else serveProgramPages(server, { ...docs, folder: 'public' }, readProgramFile);
    const pages = instances.flatMap(({ instance }) => instance.pages ?? []);
    for (const each of pages) {
      if (each.missing === undefined) serveProgramPages(server, each, each.read);
      else serveMissingPages(server, each.prefix, each.missing);
    }
    const home = pages.find(({ missing }) => missing === undefined)?.prefix ?? '/docs/';
    redirectRoot(server, mounts, home);
    await registerMounts(server, mounts, guard);
    server.server.once('listening', () => {
      for (const { instance } of instances) instance.start?.();
    });
    if (settings.jwtSecret === undefined) {
      server.addHook('onListen', async () => {
        log.info('jwtSecret is not set: tokens become invalid when the server stops');
      });
    }
    return {
      server,
      mounts,
      home,
      notices: instances.flatMap(({ instance }) => instance.notices ?? []),
      reopen: async () => {
        await Promise.all([reopen(), ...instances.map(({ instance }) => instance.reopen?.())]);
        const renewed = readCertificate(settings);
        if (renewed) renewCertificate(server, renewed);
      },
      reload: (changed) => {
        assertReloadable(changed, mounted);
        keys.load(changed.keys);
        return instances.flatMap(
          ({ feature, instance }) => instance.reload?.(pickOwn(changed, feature.settings)) ?? [],
        );
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
};

/** Pages may load only files of this server and cannot be framed. */
const pagePolicy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/** A mounted feature and its instance. */
interface Mounted {
  feature: Feature;
  instance: FeatureInstance;
}

/** Creates the features in their order; each receives its own settings and seed records, and no others. */
const createInstances = async (
  server: FastifyInstance,
  features: readonly Feature[],
  settings: Settings,
  parts: Parts,
): Promise<Mounted[]> => {
  const created: Mounted[] = [];
  for (const feature of features) {
    const instance = await feature.create({
      ...parts,
      settings: pickOwn(settings, feature.settings),
      records: pickOwn(parts.records, feature.seed),
    });
    created.push({ feature, instance });
    server.addHook('preClose', async () => instance.stop?.());
    server.addHook('onClose', async () => instance.close?.());
  }
  return created;
};

const listProfiles = ({ feature, instance }: Mounted): MountedProfile[] =>
  feature.profiles.map(({ name, strict = false }) => ({ name, strict, routes: instance.profiles[name] ?? [] }));

const listTags = (features: readonly Feature[]) =>
  features.flatMap(({ profiles }) => profiles.map(({ name, summary }) => ({ name, description: summary })));

/** `GET /` redirects to the pages, unless a strict profile at `/` makes it an unknown route. */
const redirectRoot = (server: FastifyInstance, mounts: readonly BuiltMount[], prefix: string): void => {
  const isTaken = mounts.some(({ base, profiles }) => base === '/' && profiles.some(({ strict }) => strict));
  if (!isTaken) server.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect(prefix));
};
