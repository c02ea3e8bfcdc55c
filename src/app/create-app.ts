import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { createGuard } from '../auth/guard.ts';
import { createTokens } from '../auth/token.ts';
import { readCertificate } from '../config/network.ts';
import type { Settings } from '../config/schema.ts';
import { checkAll } from '../config/settings-error.ts';
import { createHostReadings } from '../host/index.ts';
import { renewCertificate } from '../http/connection/tls.ts';
import { serveOpenApi } from '../http/routes/openapi.ts';
import { serveStaticFiles } from '../http/routes/static-files.ts';
import { createServer } from '../http/server.ts';
import type { Feature, FeatureInstance, Parts } from '../profiles/feature.ts';
import { createLogOpener } from './journal-opener.ts';
import { assertNoOverlap, type MountedProfile, settleClashes } from './mounts/clash.ts';
import { registerProfile } from './mounts/register.ts';
import type { Mount } from './mounts/resolve.ts';
import { version } from './package-info.ts';
import { readPlan } from './preflight.ts';

interface Surroundings {
  log: FastifyBaseLogger;
  nodeVersion: string;
  features: readonly Feature[];
}

export interface App {
  /** Ready to listen; closing it finishes what was acknowledged and lets go of everything. */
  server: FastifyInstance;
  mounts: { base: string; profiles: MountedProfile[] }[];
  /** Lines for people, to be printed once. */
  notices: string[];
  /** Opens files again after something else moved them away. */
  reopen(): Promise<void>;
}

/** The whole service for the given settings, not listening yet. Throws a SettingsError for bad ones. */
export const createApp = async (
  settings: Settings,
  { log, nodeVersion, features }: Surroundings,
): Promise<App> => {
  const { mounts, mounted, keys, records, pages, powerShellPaths, certificate } = readPlan(
    settings,
    features,
  );
  const host = createHostReadings();
  const clock = () => new Date();
  const tokens = createTokens(keys, settings.issuer, clock);
  const server = createServer({ ...settings, log, machine: hostname(), certificate });
  server.addHook('onClose', async () => host.close());
  try {
    const parts = {
      version,
      nodeVersion,
      openLog: createLogOpener(resolve(settings.dataDir), log),
      clock,
      host,
      log,
      powerShellPaths,
      tokens,
      records,
    };
    const instances = await createInstances(mounted, { ...parts, settings }, server);
    const built = buildMounts(mounts, mounted, instances);
    await addRoutes(server, built, pages, createGuard(server, tokens), mounted);
    if (settings.jwtSecret === undefined) tellRandomSecret(server);
    return {
      server,
      mounts: built,
      notices: instances.flatMap(({ notices = [] }) => notices),
      reopen: async () => {
        await Promise.all(instances.map(({ reopen }) => reopen?.()));
        const renewed = readCertificate(settings);
        if (renewed) renewCertificate(server, renewed);
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
};

/** Pages load their own files alone, and no other page frames them. */
const pagePolicy =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

const tellRandomSecret = (server: FastifyInstance): void => {
  server.addHook('onListen', async () => {
    server.log.info('jwtSecret is not set: a random one is used, and tokens end with this process');
  });
};

const createInstances = async (
  features: Feature[],
  parts: Parts & { settings: Settings },
  server: FastifyInstance,
): Promise<FeatureInstance[]> => {
  const instances: FeatureInstance[] = [];
  for (const feature of features) {
    const instance = await feature.create(parts);
    instances.push(instance);
    server.addHook('onClose', async () => instance.close?.());
  }
  return instances;
};

const buildMounts = (mounts: Mount[], features: Feature[], instances: FeatureInstance[]): App['mounts'] => {
  const checks = mounts.map(
    ({ base, profiles }) => [base, () => buildMount(base, profiles, features, instances)] as const,
  );
  const built = Object.values(checkAll(Object.fromEntries(checks)));
  assertNoOverlap(built);
  return built;
};

const buildMount = (
  base: string,
  names: string[],
  features: Feature[],
  instances: FeatureInstance[],
): App['mounts'][number] => {
  const known = features.flatMap(({ profiles }) => profiles);
  const routes = Object.assign({}, ...instances.map(({ profiles }) => profiles));
  const profiles = names.map((name) => ({
    name,
    strict: known.some((profile) => profile.name === name && profile.strict),
    routes: routes[name],
  }));
  return { base, profiles: settleClashes(base, profiles) };
};

const addRoutes = async (
  server: FastifyInstance,
  mounts: App['mounts'],
  pages: string,
  guard: ReturnType<typeof createGuard>,
  features: Feature[],
): Promise<void> => {
  const tags = features.flatMap(({ profiles }) =>
    profiles.map(({ name, summary }) => ({ name, description: summary })),
  );
  await serveOpenApi(server, version, tags);
  await serveStaticFiles(server, { prefix: '/docs/', root: pages, policy: pagePolicy });
  const rootIsTaken = mounts.some(
    ({ base, profiles }) => base === '/' && profiles.some(({ strict }) => strict),
  );
  if (!rootIsTaken)
    server.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect('/docs/'));
  for (const { base, profiles } of mounts) {
    for (const profile of profiles) await registerProfile(server, base, profile, guard);
  }
};
