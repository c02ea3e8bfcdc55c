import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type AccessSetting, createAccessKeys } from '../auth/access.ts';
import { createAuthorize, createGuard, createIdentifySender } from '../auth/guard.ts';
import { createTokenKeys, createTokens, type TokenKeys } from '../auth/token.ts';
import { readCertificate } from '../config/certificate.ts';
import { minimumSecretBytes } from '../config/conflicts.ts';
import type { Settings } from '../config/schema.ts';
import { createHostReadings } from '../host/index.ts';
import { serveOpenApi } from '../http/openapi.ts';
import { serveMissingPages, serveProgramPages, serveStaticFiles } from '../http/pages.ts';
import { changeAdmission, createServer, renewCertificate } from '../http/server.ts';
import { createMeters } from '../metrics/meters.ts';
import { addProcessMeters } from '../metrics/process-meters.ts';
import type { Concern, Feature, FeatureInstance, Offers, Parts, Profile, RandomSecrets } from '../profiles/feature.ts';
import type { Topic } from '../profiles/topic.ts';
import { isPostgresUrl } from '../storage/postgres/connecting/address.ts';
import { findLevel, toTopicAccess } from './mounts/access.ts';
import { type BuiltMount, buildMounts, type MountedProfile } from './mounts/build.ts';
import { type Exposure, findExposure, listOpenedProfiles } from './mounts/exposure.ts';
import { registerMounts } from './mounts/register.ts';
import { readProgramFile, version } from './package-info.ts';
import { pickOwn } from './pick-own.ts';
import { assertReloadable, preflight } from './preflight.ts';
import { nameInstance } from './shared-store.ts';
import type { OpenStorage } from './storage.ts';
import { findStorageConcerns } from './storage-concerns.ts';

interface Dependencies {
  log: FastifyBaseLogger;
  nodeVersion: string;
  features: readonly Feature[];
  openStorage: OpenStorage;
}

export interface App {
  /** Ready to listen; closing it completes acknowledged work and releases everything. */
  server: FastifyInstance;
  mounts: BuiltMount[];
  /** The path of the pages that `GET /` redirects to. */
  home: string;
  /** What others than the users of this machine may use without a token, if there is anything. */
  exposure: Exposure | undefined;
  /** Messages to print once, on startup. */
  notices: string[];
  /** Messages for the log, on startup. */
  warnings: string[];
  remarks: string[];
  /** Reopens files after another program moved them, and reads the certificate again. */
  reopen(): Promise<void>;
  /** Applies settings that can change at runtime; returns messages to print. If it throws, nothing has changed. */
  reload(settings: Settings): string[];
}

/** The whole server for the given settings, not listening yet. Throws a SettingsError for invalid ones. */
export const createApp = async (
  settings: Settings,
  { log, nodeVersion, features, openStorage }: Dependencies,
): Promise<App> => {
  const plan = preflight(settings, features);
  const { mounted, powerShellPaths, records, maxConnections, certificate } = plan;
  const host = createHostReadings();
  const meters = createMeters();
  addProcessMeters(meters);
  const clock = () => new Date();
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
    const storage = await openStorage(settings, { name: instanceName, version, log, meters });
    server.addHook('preClose', async () => storage.stop());
    server.addHook('onClose', async () => storage.close());
    const tokens = createTokens(toKeys(settings, storage.secrets), settings.jwtIssuer, clock);
    const keys = createAccessKeys(settings.keys);
    const authorize = createAuthorize(tokens, keys);
    const identifySender = createIdentifySender(tokens, keys);
    const topics = new Map<string, Topic>();
    const listUnavailable = async (): Promise<string[]> => {
      const ready = await Promise.all(instances.map(({ instance }) => instance.isReady?.() ?? true));
      return instances.filter((_, index) => !ready[index]).map(({ feature }) => feature.name);
    };
    const findConcerns = async (): Promise<Concern[]> => [
      ...instances.flatMap(({ instance }) => instance.findConcerns?.() ?? []),
      ...findStorageConcerns({
        database: storage.database,
        unavailable: await listUnavailable(),
        unwritable: storage.listUnwritable(),
      }),
    ];
    const shared = { meters, authorize, identifySender, topics: () => topics, listUnavailable, findConcerns };
    const own = { version, nodeVersion, readProgramFile, ...shared };
    const parts = { ...own, ...storage, clock, host, log, powerShellPaths, tokens, records };
    const instances = await createInstances(server, mounted, settings, parts);
    const isServed = ({ name }: Profile) => plan.mounts.some(({ profiles }) => profiles.includes(name));
    for (const { feature, instance } of instances) {
      const profile = feature.profiles.find(isServed);
      const level = profile && findLevel(settings.access, profile);
      for (const [name, topic] of Object.entries(instance.topics ?? {})) {
        topics.set(name, { ...topic, access: toTopicAccess(topic, level) });
      }
    }
    const mounts = buildMounts(
      plan.mounts,
      instances.flatMap((each) => listProfiles(each, settings.access)),
    );
    const guard = createGuard(server, authorize);
    const findWarned = (current: Settings) => findExposure(mounts, { host: address, trustProxy: current.trustProxy });
    const exposure = findWarned(settings);
    const schemas = Object.fromEntries([...topics].map(([name, { schema }]) => [name, schema]));
    const { setWarning } = serveOpenApi(server, { version, tags: listTags(mounted), topics: schemas });
    setWarning(exposure?.warning);
    const prefix = '/docs/';
    if (plan.publicFolder !== undefined) {
      await serveStaticFiles(server, { prefix, policy: pagePolicy, root: plan.publicFolder });
    } else {
      serveProgramPages(server, { prefix, policy: referencePolicy, folder: 'dist/public' }, readProgramFile);
    }
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
    const isKeyKept = settings.jwtSecret !== undefined || storage.secrets.file !== undefined;
    return {
      server,
      mounts,
      home,
      exposure,
      notices: [
        ...instances.flatMap(({ instance }) => instance.notices ?? []),
        ...listOpenedProfiles(mounts),
        ...(exposure ? [exposure.warning] : []),
      ],
      warnings: plan.warnings,
      remarks: isKeyKept ? [] : ['jwtSecret is not set: tokens become invalid when the server stops'],
      reopen: async () => {
        await Promise.all([storage.reopen(), ...instances.map(({ instance }) => instance.reopen?.())]);
        const renewed = readCertificate(settings);
        if (renewed) renewCertificate(server, renewed);
      },
      reload: (changed) => {
        assertReloadable(changed, mounted);
        keys.load(changed.keys);
        changeAdmission(server, changed);
        const warning = findWarned(changed)?.warning;
        const isNew = setWarning(warning);
        return [
          ...instances.flatMap(({ feature, instance }) => instance.reload?.(pickOwn(changed, feature.settings)) ?? []),
          ...(isNew && warning !== undefined ? [warning] : []),
          ...(isDeepStrictEqual(changed.access, settings.access)
            ? []
            : ['Warning: access has changed. Restart the server to apply it.']),
        ];
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
};

const toKeys = ({ jwtSecret, jwtPreviousSecret }: Settings, secrets: RandomSecrets): TokenKeys =>
  createTokenKeys(
    Buffer.from(jwtSecret ?? secrets.get('jwtSecret', minimumSecretBytes)),
    jwtPreviousSecret === undefined ? undefined : Buffer.from(jwtPreviousSecret),
  );

/** Pages may load only files of this server and cannot be framed. */
const pagePolicy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/** The API reference alone may have inline styles, which Scalar sets. */
const referencePolicy = `${pagePolicy}; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'`;

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
  parts: Omit<Parts, 'offers'>,
): Promise<Mounted[]> => {
  const created: Mounted[] = [];
  const offers: Offers = {};
  for (const feature of features) {
    const instance = await feature.create({
      ...parts,
      offers,
      settings: pickOwn(settings, feature.settings),
      records: pickOwn(parts.records, feature.seed),
    });
    Object.assign(offers, instance.offers);
    created.push({ feature, instance });
    server.addHook('preClose', async () => instance.stop?.());
    server.addHook('onClose', async () => instance.close?.());
  }
  return created;
};

const listProfiles = ({ feature, instance }: Mounted, access: AccessSetting): MountedProfile[] =>
  feature.profiles.map((profile) => ({
    ...{ name: profile.name, aliases: profile.aliases ?? [], strict: profile.strict ?? false },
    level: findLevel(access, profile),
    routes: instance.profiles[profile.name] ?? [],
  }));

const listTags = (features: readonly Feature[]) =>
  features.flatMap(({ profiles }) => profiles.map(({ name, summary }) => ({ name, description: summary })));

/** `GET /` redirects to the pages, unless a strict profile at `/` makes it an unknown route. */
const redirectRoot = (server: FastifyInstance, mounts: readonly BuiltMount[], prefix: string): void => {
  const isTaken = mounts.some(({ base, profiles }) => base === '/' && profiles.some(({ strict }) => strict));
  if (!isTaken) server.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect(prefix));
};
