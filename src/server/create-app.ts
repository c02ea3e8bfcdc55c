import { hkdfSync } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { createAccessKeys } from '../auth/access.ts';
import { createAuthorize, createGuard, createIdentifySender } from '../auth/guard.ts';
import { createTokenSecrets, createTokens } from '../auth/token.ts';
import { minimumSecretBytes, readCertificate } from '../config/checks.ts';
import type { Settings } from '../config/schema.ts';
import { createHostReadings } from '../host/index.ts';
import type { HostReadings } from '../host/readings.ts';
import { serveOpenApi } from '../http/openapi.ts';
import { pagePolicy, serveMissingPages, serveProgramPages, serveStaticFiles } from '../http/pages.ts';
import { changeAdmission, createServer, renewCertificate } from '../http/server.ts';
import type { Feature, FeatureInstance, Invitation, Parts, Profile, RandomSecrets } from '../kit/feature.ts';
import { listProfiles } from '../kit/listing.ts';
import type { Offers } from '../kit/offers.ts';
import type { Topic } from '../kit/topic.ts';
import { createMeters } from '../metrics/meters.ts';
import {
  findOpenRoutesNotice,
  listOpenedProfiles,
  type OpenRoutesNotice,
  toProfileLevel,
  toRouteAccess,
  toTopicAccess,
} from './access.ts';
import { nameInstance } from './database.ts';
import { buildMounts, type MountedRoutes, type ProfileRoutes, registerMounts } from './mounts.ts';
import { programVersion, readProgramFile } from './package-info.ts';
import { assertReloadable, type Plan, pickOwn, preflight } from './preflight.ts';
import type { AppStorage, OpenStorage } from './storage.ts';
import { parseStore } from './store.ts';

interface Dependencies {
  log: FastifyBaseLogger;
  features: readonly Feature[];
  openStorage: OpenStorage;
  /** Readings of the machine. Default: readings of this machine. */
  host?: HostReadings;
}

export interface App {
  /** Server that is ready to listen. Closing it completes acknowledged work and releases everything. */
  server: FastifyInstance;
  mounts: MountedRoutes[];
  /** Path of the pages that `GET /` redirects to. */
  home: string;
  /** Routes that other machines can use without a token. Undefined if there are none. */
  openRoutesNotice: OpenRoutesNotice | undefined;
  /** Messages to print once, on startup. */
  notices: string[];
  /** Invitation to open a page on startup. Set if that page is part of `home`. */
  invitation: Invitation | undefined;
  /** Messages for the log on startup. */
  warnings: string[];
  remarks: string[];
  /** Reopens files that other programs have moved, and reads the certificate again. */
  reopen(): Promise<void>;
  /** Applies settings that can change at runtime. Returns messages to print. If it throws, nothing has changed. */
  reload(settings: Settings): string[];
}

/**
 * Creates the whole server for the given settings. It does not listen yet. Throws a SettingsError if the settings are
 * invalid.
 */
export const createApp = async (settings: Settings, dependencies: Dependencies): Promise<App> => {
  const { log, features, openStorage, host = createHostReadings() } = dependencies;
  const plan = preflight(settings, features);
  const meters = createMeters();
  const clock = () => new Date();
  const name = nameInstance(settings, host.hostname());
  const { allowedHosts, cors, trustProxy, requestTimeout, headersTimeout, maxEventLoopDelay } = settings;
  const server = createServer({
    host: settings.host,
    machine: host.hostname(),
    allowedHosts,
    cors,
    trustProxy,
    log,
    meters,
    certificate: plan.certificate,
    maxConnections: plan.maxConnections,
    requestTimeout,
    headersTimeout,
    maxEventLoopDelay,
    ...(parseStore(settings.store).kind === 'postgresql' && { instance: name }),
  });
  server.addHook('onClose', async () => host.close());
  if (settings.basePath !== undefined) prefixRedirects(server, settings.basePath);
  try {
    const storage = await openStorage(settings, { name, version: programVersion, log, meters });
    server.addHook('preClose', async () => storage.stop());
    server.addHook('onClose', async () => storage.close());
    const offers = createOffers(plan.active);
    const tokens = createTokens(readTokenSecrets(settings, storage.secrets), settings.jwtIssuer, clock, (name) =>
      offers.accounts?.findGrant(name),
    );
    const keys = createAccessKeys(settings.keys, () => offers.accounts?.listRuntimeKeys() ?? []);
    const authorize = createAuthorize(tokens, keys);
    const created = await createFeatures(server, settings, plan, storage, offers, {
      version: programVersion,
      readProgramFile,
      powerShellPaths: plan.powerShellPaths,
      clock,
      host,
      log,
      meters,
      tokens,
      keys,
      authorize,
      identifySender: createIdentifySender(tokens, keys),
      deriveSecrets: (purpose) => deriveSecrets(settings, purpose),
    });
    const served = await serveFeatures(
      server,
      settings,
      plan,
      created,
      createGuard(server, authorize, async () => offers.accounts?.refresh()),
    );
    const instances = created.active.map(({ instance }) => instance);
    server.server.once('listening', () => {
      for (const instance of instances) instance.start?.();
    });
    const isKeyKept = settings.jwtSecret !== undefined || storage.secrets.file !== undefined;
    const { mounts, home, openRoutesNotice } = served;
    return {
      server,
      mounts,
      home,
      openRoutesNotice,
      warnings: plan.warnings,
      notices: [
        ...instances.flatMap(({ notices = [] }) => notices),
        ...listOpenedProfiles(mounts),
        ...instances.flatMap(({ warning }) => warning ?? []),
        ...(openRoutesNotice ? [openRoutesNotice.warning] : []),
      ],
      invitation: findInvitation(instances, mounts),
      remarks: isKeyKept
        ? []
        : ['jwtSecret is not set: tokens become invalid when the server stops; --keep-secrets keeps them valid'],
      reopen: async () => {
        await storage.reopen();
        const renewed = readCertificate(settings);
        if (renewed) renewCertificate(server, renewed);
      },
      reload: (changed) => {
        assertReloadable(changed, plan.active);
        keys.load(changed.keys);
        changeAdmission(server, changed);
        const warnings = served.renewWarning(changed);
        return [
          ...created.active.flatMap(
            ({ feature, instance }) => instance.reload?.(pickOwn(changed, feature.settings)) ?? [],
          ),
          ...warnings,
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

/** Returns the invitation of the first feature whose requirements are mounted. */
const findInvitation = (
  instances: readonly FeatureInstance[],
  mounts: readonly MountedRoutes[],
): Invitation | undefined =>
  instances
    .flatMap(({ invitation }) => invitation ?? [])
    .find(({ profile }) => mounts.some(({ profiles }) => profiles.some(({ name }) => name === profile)));

const readTokenSecrets = ({ jwtSecret, jwtPreviousSecret }: Settings, secrets: RandomSecrets) =>
  createTokenSecrets(
    Buffer.from(jwtSecret ?? secrets.get('jwtSecret', minimumSecretBytes)),
    jwtPreviousSecret === undefined ? undefined : Buffer.from(jwtPreviousSecret),
  );

const deriveSecrets = ({ jwtSecret, jwtPreviousSecret }: Settings, purpose: string): Buffer[] =>
  [jwtSecret, jwtPreviousSecret].flatMap((secret) =>
    secret === undefined ? [] : [Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))],
  );

/** Adds the features' routes and pages, and the OpenAPI document, to the server. */
const serveFeatures = async (
  server: FastifyInstance,
  settings: Settings,
  plan: Plan,
  { active, topics }: Awaited<ReturnType<typeof createFeatures>>,
  guard: ReturnType<typeof createGuard>,
) => {
  const profiles = active.flatMap((each) => listProfileRoutes(each, settings));
  const mounts = buildMounts(plan.mounts, profiles);
  const findCurrent = ({ trustProxy }: Settings) => findOpenRoutesNotice(mounts, { host: settings.host, trustProxy });
  const openRoutesNotice = findCurrent(settings);
  const tags = listProfiles(active.map(({ feature }) => feature))
    .filter((profile) => isServed(plan, profile))
    .map(({ name, summary }) => ({ name, description: summary }));
  const schemas = Object.fromEntries(Array.from(topics, ([name, { schema }]) => [name, schema]));
  const { basePath = '' } = settings;
  const warnings = active.flatMap(({ instance }) => instance.warning ?? []);
  let shown = openRoutesNotice?.warning;
  const readWarning = () => [...warnings, ...(shown ? [shown] : [])].join('\n') || undefined;
  const { listFacts } = serveOpenApi(server, {
    version: programVersion,
    tags,
    basePath,
    topics: schemas,
    readWarning,
  });
  const pages = active.flatMap(({ instance }) => instance.pages ?? []);
  const home = await servePages(server, plan.publicFolder, pages, listFacts);
  redirectRoot(server, mounts, home);
  await registerMounts(server, mounts, guard);
  return {
    mounts,
    home,
    openRoutesNotice,
    /** Returns the warning for the changed settings, if it differs from the last warning. */
    renewWarning: (changed: Settings): string[] => {
      const last = shown;
      shown = findCurrent(changed)?.warning;
      return shown === undefined || shown === last ? [] : [shown];
    },
  };
};

/** Content-Security-Policy of the API reference. Only this page has inline styles, because Scalar sets them. */
const referencePolicy = `${pagePolicy}; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'`;

/**
 * Serves the API reference, or the user's folder, and the pages of features. Returns the path that `GET /` redirects
 * to.
 */
const servePages = async (
  server: FastifyInstance,
  publicFolder: string | undefined,
  pages: readonly NonNullable<FeatureInstance['pages']>[],
  listFacts: () => object,
): Promise<string> => {
  const prefix = '/docs/';
  if (publicFolder !== undefined) {
    await serveStaticFiles(server, { prefix, policy: pagePolicy, root: publicFolder });
  } else {
    serveProgramPages(server, { prefix, policy: referencePolicy, folder: 'dist/public' }, readProgramFile);
  }
  for (const each of pages) {
    if (each.missing === undefined) serveProgramPages(server, each, each.read, listFacts);
    else serveMissingPages(server, each.prefix, each.missing);
  }
  return pages.find(({ missing }) => missing === undefined)?.prefix ?? prefix;
};

/** Prepends the path under which a proxy serves the server to redirects that begin with a slash. */
const prefixRedirects = (server: FastifyInstance, basePath: string): void => {
  server.addHook('onSend', async (_request, reply) => {
    const location = reply.getHeader('location');
    if (typeof location === 'string' && location.startsWith('/')) reply.header('location', `${basePath}${location}`);
  });
};

/** Redirects `GET /` to the pages. With a strict profile at `/`, it is an unknown route instead. */
const redirectRoot = (server: FastifyInstance, mounts: readonly MountedRoutes[], prefix: string): void => {
  const isTaken = mounts.some(({ base, profiles }) => base === '/' && profiles.some(({ strict }) => strict));
  if (!isTaken) server.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect(prefix));
};

/** Feature that has been created, with its instance. */
interface ActiveFeature {
  feature: Feature;
  instance: FeatureInstance;
}

/** True if a mount serves the profile. */
const isServed = ({ mounts }: Pick<Plan, 'mounts'>, { name }: Profile): boolean =>
  mounts.some(({ profiles }) => profiles.includes(name));

/** Returns the sources of features. Reading a source throws until its feature has been created. */
const createOffers = (features: readonly Feature[]): Offers => {
  const offers = {};
  for (const { name } of features) {
    const get = (): never => {
      throw new Error(`a feature uses ${name} before it is created`);
    };
    Object.defineProperty(offers, name, { get, configurable: true });
  }
  return offers;
};

/** Facts about all features, available once all features have been created. */
type Overview = Pick<Parts, 'topics' | 'listUnavailable' | 'findConcerns'>;

/**
 * Creates the active features in order, and closes them with the server. Each feature receives only its own settings
 * and seed records.
 */
const createFeatures = async (
  server: FastifyInstance,
  settings: Settings,
  plan: Plan,
  storage: AppStorage,
  offers: Offers,
  parts: Omit<Parts, 'storage' | 'secrets' | keyof Overview | 'base' | 'offers' | 'records'>,
) => {
  const active: ActiveFeature[] = [];
  const topics = new Map<string, Topic>();
  const listActive = (): readonly ActiveFeature[] => {
    if (active.length === plan.active.length) return active;
    throw new Error('a feature reads the list of features before all features exist');
  };
  const listUnavailable = async (): Promise<string[]> => {
    const all = listActive();
    const ready = await Promise.all(all.map(({ instance }) => instance.isReady?.() ?? true));
    return all.filter((_, index) => !ready[index]).map(({ feature }) => feature.name);
  };
  const overview: Overview = {
    topics: () => {
      listActive();
      return topics;
    },
    listUnavailable,
    findConcerns: async () => [
      ...listActive().flatMap(({ instance }) => instance.findConcerns?.() ?? []),
      ...storage.findStorageConcerns(await listUnavailable()),
    ],
  };
  for (const feature of plan.active) {
    const instance = await feature.create({
      storage,
      secrets: storage.secrets,
      ...parts,
      ...overview,
      base: plan.mounts.find(({ profiles }) => feature.profiles.some(({ name }) => profiles.includes(name)))?.base,
      offers,
      settings: pickOwn(settings, feature.settings),
      records: pickOwn(plan.records, feature.seed),
    });
    active.push({ feature, instance });
    Object.defineProperty(offers, feature.name, { value: instance.offers?.[feature.name as keyof Offers] });
    for (const [name, topic] of Object.entries(instance.topics ?? {})) {
      const ofTopic = (profile: Profile) => topic.profile === undefined || topic.profile === profile.name;
      const profile = feature.profiles.filter((each) => isServed(plan, each)).find(ofTopic);
      if (!profile) continue;
      const level = toProfileLevel(settings.access, profile);
      topics.set(name, { ...topic, access: toTopicAccess(topic, level) });
    }
    server.addHook('preClose', async () => instance.stop?.());
    server.addHook('onClose', async () => instance.close?.());
  }
  return { active, topics };
};

/** Returns the routes of a feature's profiles, with the access that the settings give them. */
const listProfileRoutes = ({ feature, instance }: ActiveFeature, { access }: Settings): ProfileRoutes[] =>
  feature.profiles.map((profile) => {
    const level = toProfileLevel(access, profile);
    const routes = instance.profiles[profile.name] ?? [];
    return {
      name: profile.name,
      aliases: profile.aliases ?? [],
      strict: profile.strict ?? false,
      routes: routes.map((route) => ({ ...route, access: toRouteAccess(route, level) })),
    };
  });
