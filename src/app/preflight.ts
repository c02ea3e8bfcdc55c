import { randomBytes } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { TSchema } from 'typebox';
import { createKeys, type Keys } from '../auth/keys.ts';
import { assertUsable, readCertificate } from '../config/network.ts';
import type { Settings } from '../config/schema.ts';
import { findSecretProblems, minimumSecretBytes } from '../config/secrets.ts';
import { readSeed, type SeedRecords } from '../config/seed.ts';
import { assertNoProblems, checkAll, SettingsError } from '../config/settings-error.ts';
import { listPowerShellPaths } from '../host/power-shell.ts';
import type { Certificate } from '../http/connection/tls.ts';
import type { Feature } from '../profiles/feature.ts';
import { type Mount, resolveMounts } from './mounts/resolve.ts';
import { findPublicFolder } from './public-pages.ts';

interface Served {
  mounts: Mount[];
  /** The features that at least one mount has. */
  mounted: Feature[];
}

interface Plan extends Served {
  keys: Keys;
  records: SeedRecords;
  /** The folder that `/docs/` serves. */
  pages: string;
  certificate: Certificate | undefined;
  /** Where PowerShell may be. */
  powerShellPaths: readonly string[];
}

/** What the settings come to, before anything is opened; throws a SettingsError with all that is wrong. */
export const readPlan = (settings: Settings, features: readonly Feature[]): Plan => {
  const {
    served,
    network: _,
    ...rest
  } = checkAll({
    network: () => assertUsable(settings),
    certificate: () => readCertificate(settings),
    served: () => planMounts(settings, features),
    keys: () => toKeys(settings),
    records: () => (settings.seed === undefined ? {} : readSeed(settings.seed, seedSchemas(features))),
    pages: () => findPublicFolder(settings),
    powerShellPaths: () => choosePowerShellPaths(settings),
  });
  return { ...served, ...rest };
};

const planMounts = (settings: Settings, features: readonly Feature[]): Served => {
  const mounts = resolveMounts(settings, features);
  const mounted = features.filter((feature) => isMounted(feature, mounts));
  assertNoProblems(mounted.flatMap((feature) => feature.findProblems?.(settings) ?? []));
  return { mounts, mounted };
};

const isMounted = (feature: Feature, mounts: Mount[]): boolean =>
  feature.profiles.some(({ name }) => mounts.some(({ profiles }) => profiles.includes(name)));

const toKeys = (settings: Settings): Keys => {
  assertNoProblems(findSecretProblems(settings));
  const { jwtSecret, jwtPreviousSecret } = settings;
  if (jwtSecret === undefined) return createKeys(randomBytes(minimumSecretBytes));
  return createKeys(
    Buffer.from(jwtSecret),
    jwtPreviousSecret === undefined ? undefined : Buffer.from(jwtPreviousSecret),
  );
};

const seedSchemas = (features: readonly Feature[]): Record<string, TSchema> =>
  Object.assign({}, ...features.map(({ seed }) => seed ?? {}));

const choosePowerShellPaths = ({ powershellPath }: Settings): readonly string[] => {
  if (powershellPath === undefined) return listPowerShellPaths();
  if (isAbsolute(powershellPath)) return [powershellPath];
  throw new SettingsError([`powershellPath must be an absolute path, not ${JSON.stringify(powershellPath)}`]);
};
