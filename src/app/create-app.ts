import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { createAccessKeys } from '../auth/access.ts';
import { createAuthorize, createGuard, createIdentifySender } from '../auth/guard.ts';
import { createTokenKeys, createTokens } from '../auth/token.ts';
import { minimumSecretBytes, readCertificate } from '../config/checks.ts';
import type { Settings } from '../config/schema.ts';
import { createHostReadings } from '../host/index.ts';
import { serveOpenApi } from '../http/openapi.ts';
import { serveMissingPages, serveProgramPages, serveStaticFiles } from '../http/pages.ts';
import { changeAdmission, createServer, renewCertificate } from '../http/server.ts';
import { createMeters } from '../metrics/meters.ts';
import { addProcessMeters } from '../metrics/process-meters.ts';
import type { Feature, FeatureInstance, RandomSecrets } from '../profiles/feature.ts';
import { isPostgresUrl } from '../storage/postgres/address.ts';
import { type Exposure, findExposure, listOpenedProfiles } from './access.ts';
import { nameInstance } from './database.ts';
import { createFeatures, listProfileRoutes } from './features.ts';
import { buildMounts, type MountedRoutes, registerMounts } from './mounts.ts';
import { readProgramFile, version } from './package-info.ts';
import { assertReloadable, type Plan, pickOwn, preflight } from './preflight.ts';
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
  const host = createHostReadings();
  const meters = createMeters();
  addProcessMeters(meters);
  const clock = () => new Date();
  const name = nameInstance(settings, host.hostname());
  const { allowedHosts, cors, trustProxy, requestTimeout, headersTimeout, maxEventLoopDelay } = settings;
  const server = createServer({
    ...{ host: settings.host, machine: host.hostname(), allowedHosts, cors, trustProxy, log, meters },
    ...{ certificate: plan.certificate, maxConnections: plan.maxConnections },
    ...{ requestTimeout, headersTimeout, maxEventLoopDelay },
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
    const created = await createFeatures(server, settings, plan, storage, {
      ...{ version, readProgramFile, powerShellPaths: plan.powerShellPaths },
      ...{ clock, host, log, meters, tokens, authorize, identifySender: createIdentifySender(tokens, keys) },
    });
    const served = await serveFeatures(server, settings, plan, created, createGuard(server, authorize));
    const instances = created.mounted.map(({ instance }) => instance);
    server.server.once('listening', () => {
      for (const instance of instances) instance.start?.();
    });
    const isKeyKept = settings.jwtSecret !== undefined || storage.secrets.file !== undefined;
    const { mounts, home, exposure } = served;
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
        const warnings = served.renewWarning(changed);
        return [
          ...created.mounted.flatMap(
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

const readTokenKeys = ({ jwtSecret, jwtPreviousSecret }: Settings, secrets: RandomSecrets) =>
  createTokenKeys(
    Buffer.from(jwtSecret ?? secrets.get('jwtSecret', minimumSecretBytes)),
    jwtPreviousSecret === undefined ? undefined : Buffer.from(jwtPreviousSecret),
  );

/** Adds the routes of the features, their pages and the OpenAPI document to the server. */
const serveFeatures = async (
  server: FastifyInstance,
  settings: Settings,
  plan: Plan,
  { mounted, topics }: Awaited<ReturnType<typeof createFeatures>>,
  guard: ReturnType<typeof createGuard>,
) => {
  const profiles = mounted.flatMap((each) => listProfileRoutes(each, settings));
  const mounts = buildMounts(plan.mounts, profiles);
  const findCurrent = ({ trustProxy }: Settings) => findExposure(mounts, { host: settings.host, trustProxy });
  const exposure = findCurrent(settings);
  const tags = mounted.flatMap(({ feature }) =>
    feature.profiles.map(({ name, summary }) => ({ name, description: summary })),
  );
  const schemas = Object.fromEntries(Array.from(topics, ([name, { schema }]) => [name, schema]));
  const { setWarning } = serveOpenApi(server, { version, tags, topics: schemas });
  setWarning(exposure?.warning);
  const pages = mounted.flatMap(({ instance }) => instance.pages ?? []);
  const home = await servePages(server, plan.publicFolder, pages);
  redirectRoot(server, mounts, home);
  await registerMounts(server, mounts, guard);
  return {
    ...{ mounts, home, exposure },
    /** The warning of changed settings, if it is another one. */
    renewWarning: (changed: Settings): string[] => {
      const warning = findCurrent(changed)?.warning;
      return setWarning(warning) && warning !== undefined ? [warning] : [];
    },
  };
};

/** Pages may load only files of this server and cannot be framed. */
const pagePolicy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/** The API reference alone may have inline styles, which Scalar sets. */
const referencePolicy = `${pagePolicy}; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'`;

/** Serves the API reference, or the user's folder, and the pages of features; returns the path that `GET /` redirects to. */
const servePages = async (
  server: FastifyInstance,
  publicFolder: string | undefined,
  pages: readonly NonNullable<FeatureInstance['pages']>[],
): Promise<string> => {
  const prefix = '/docs/';
  if (publicFolder !== undefined) {
    await serveStaticFiles(server, { prefix, policy: pagePolicy, root: publicFolder });
  } else {
    serveProgramPages(server, { prefix, policy: referencePolicy, folder: 'dist/public' }, readProgramFile);
  }
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
