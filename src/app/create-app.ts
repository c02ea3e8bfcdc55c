import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { createAccessKeys } from '../auth/access.ts';
import { createAuthorize, createGuard, createIdentifySender } from '../auth/guard.ts';
import { createTokenKeys, createTokens } from '../auth/token.ts';
import { readCertificate } from '../config/certificate.ts';
import { minimumSecretBytes } from '../config/conflicts.ts';
import type { Settings } from '../config/schema.ts';
import { createHostReadings } from '../host/index.ts';
import { serveOpenApi } from '../http/openapi.ts';
import { serveMissingPages, serveProgramPages, serveStaticFiles } from '../http/pages.ts';
import { changeAdmission, createServer, renewCertificate } from '../http/server.ts';
import { createMeters } from '../metrics/meters.ts';
import { addProcessMeters } from '../metrics/process-meters.ts';
import type { Feature, FeatureInstance, Profile, RandomSecrets } from '../profiles/feature.ts';
import { isPostgresUrl } from '../storage/postgres/connecting/address.ts';
import { type Exposure, findExposure, listOpenedProfiles } from './access.ts';
import { nameInstance } from './database.ts';
import { createFeatures, listProfileRoutes } from './features.ts';
import { buildMounts, type MountedRoutes, registerMounts } from './mounts.ts';
import { readProgramFile, version } from './package-info.ts';
import { assertReloadable, pickOwn, preflight } from './preflight.ts';
import type { OpenStorage } from './storage.ts';

interface Dependencies {
  log: FastifyBaseLogger;
  features: readonly Feature[];
  openStorage: OpenStorage;
}

export interface App {
  /** Ready to listen; closing it completes acknowledged work and releases everything. */
  server: FastifyInstance;
  mounts: MountedRoutes[];
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
export const createApp = async (settings: Settings, { log, features, openStorage }: Dependencies): Promise<App> => {
  const plan = preflight(settings, features);
  const { powerShellPaths, maxConnections, certificate } = plan;
  const host = createHostReadings();
  const meters = createMeters();
  addProcessMeters(meters);
  const clock = () => new Date();
  const { host: address, allowedHosts, cors, trustProxy } = settings;
  const { requestTimeout, headersTimeout, maxEventLoopDelay } = settings;
  const name = nameInstance(settings, host.hostname());
  const server = createServer({
    ...{ host: address, machine: host.hostname(), allowedHosts, cors, trustProxy, certificate, log },
    ...{ requestTimeout, headersTimeout, maxConnections, maxEventLoopDelay, meters },
    ...(isPostgresUrl(settings.store) && { instance: name }),
  });
  server.addHook('onClose', async () => host.close());
  try {
    const storage = await openStorage(settings, { name, version, log, meters });
    server.addHook('preClose', async () => storage.stop());
    server.addHook('onClose', async () => storage.close());

    const tokens = createTokens(readTokenKeys(settings, storage.secrets), settings.jwtIssuer, clock);
    const keys = createAccessKeys(settings.keys);
    const authorize = createAuthorize(tokens, keys);
    const identifySender = createIdentifySender(tokens, keys);
    const { created, topics } = await createFeatures(server, settings, plan, storage, {
      ...{ version, nodeVersion: process.versions.node, readProgramFile, powerShellPaths, clock, host, log, meters },
      ...{ authorize, identifySender, tokens },
    });
    const instances = created.map(({ instance }) => instance);

    const profiles = created.flatMap((each) => listProfileRoutes(each, settings));
    const mounts = buildMounts(plan.mounts, profiles);
    const findCurrentExposure = (current: Settings) =>
      findExposure(mounts, { host: address, trustProxy: current.trustProxy });
    const exposure = findCurrentExposure(settings);
    const { setWarning } = serveOpenApi(server, {
      version,
      tags: plan.mounted.flatMap((feature) => feature.profiles.map(toTag)),
      topics: Object.fromEntries(Array.from(topics, ([topic, { schema }]) => [topic, schema])),
    });
    setWarning(exposure?.warning);
    const home = await servePages(server, plan.publicFolder, instances);
    redirectRoot(server, mounts, home);
    await registerMounts(server, mounts, createGuard(server, authorize));

    server.server.once('listening', () => {
      for (const instance of instances) instance.start?.();
    });
    const isKeyKept = settings.jwtSecret !== undefined || storage.secrets.file !== undefined;
    return {
      ...{ server, mounts, home, exposure, warnings: plan.warnings },
      notices: [
        ...instances.flatMap(({ notices = [] }) => notices),
        ...listOpenedProfiles(mounts),
        ...(exposure ? [exposure.warning] : []),
      ],
      remarks: isKeyKept ? [] : ['jwtSecret is not set: tokens become invalid when the server stops'],
      reopen: async () => {
        await Promise.all([storage.reopen(), ...instances.map((instance) => instance.reopen?.())]);
        const renewed = readCertificate(settings);
        if (renewed) renewCertificate(server, renewed);
      },
      reload: (changed) => {
        assertReloadable(changed, plan.mounted);
        keys.load(changed.keys);
        changeAdmission(server, changed);
        const warning = findCurrentExposure(changed)?.warning;
        const isNew = setWarning(warning);
        return [
          ...created.flatMap(({ feature, instance }) => instance.reload?.(pickOwn(changed, feature.settings)) ?? []),
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

const readTokenKeys = ({ jwtSecret, jwtPreviousSecret }: Settings, secrets: RandomSecrets) =>
  createTokenKeys(
    Buffer.from(jwtSecret ?? secrets.get('jwtSecret', minimumSecretBytes)),
    jwtPreviousSecret === undefined ? undefined : Buffer.from(jwtPreviousSecret),
  );

const toTag = ({ name, summary }: Profile) => ({ name, description: summary });

/** Pages may load only files of this server and cannot be framed. */
const pagePolicy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/** The API reference alone may have inline styles, which Scalar sets. */
const referencePolicy = `${pagePolicy}; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'`;

/** Serves the pages of the program and of features, or the user's folder; returns the path of the first of those. */
const servePages = async (
  server: FastifyInstance,
  publicFolder: string | undefined,
  instances: readonly FeatureInstance[],
): Promise<string> => {
  const prefix = '/docs/';
  if (publicFolder !== undefined) {
    await serveStaticFiles(server, { prefix, policy: pagePolicy, root: publicFolder });
  } else {
    serveProgramPages(server, { prefix, policy: referencePolicy, folder: 'dist/public' }, readProgramFile);
  }
  const pages = instances.flatMap((instance) => instance.pages ?? []);
  for (const each of pages) {
    if (each.missing === undefined) serveProgramPages(server, each, each.read);
    else serveMissingPages(server, each.prefix, each.missing);
  }
  return pages.find(({ missing }) => missing === undefined)?.prefix ?? prefix;
};

/** `GET /` redirects to the pages, unless a strict profile at `/` makes it an unknown route. */
const redirectRoot = (server: FastifyInstance, mounts: readonly MountedRoutes[], prefix: string): void => {
  const isTaken = mounts.some(({ base, profiles }) => base === '/' && profiles.some(({ strict }) => strict));
  if (!isTaken) server.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect(prefix));
};
