import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TSchema } from 'typebox';
import { findConflicts, fitConnections, readCertificate } from '../config/checks.ts';
import { findExposedFiles, type PrivateFiles } from '../config/file-modes.ts';
import type { Settings } from '../config/schema.ts';
import { readSeed } from '../config/seed.ts';
import { assertNoProblems, checkAll, SettingsError } from '../config/settings-error.ts';
import { listPowerShellPaths } from '../host/programs.ts';
import { findEscapingLink } from '../http/pages.ts';
import { findThingProblems } from '../kit/dependencies.ts';
import type { Feature } from '../kit/feature.ts';
import { findAccessProblems } from './access.ts';
import { resolveMounts } from './mounts.ts';
import { findStoreProblems, parseStore } from './store.ts';

/** Checks the settings before anything is opened. Throws one SettingsError with every problem. */
export const preflight = (settings: Settings, features: readonly Feature[]) => {
  const checked = checkAll({
    conflicts: () => assertNoProblems(findConflicts(settings)),
    connections: () => fitConnections(settings.maxConnections),
    certificate: () => readCertificate(settings),
    profiles: () => chooseProfiles(settings, features),
    records: () => (settings.seed === undefined ? {} : readSeed(settings.seed, listSeedSchemas(features))),
    publicFolder: () => findPublicFolder(settings),
    fileWarnings: () => checkFiles(settings, features),
  });
  const { powershellPath } = settings;
  return {
    ...checked,
    ...checked.profiles,
    maxConnections: checked.connections.maxConnections,
    warnings: [checked.connections.warning ?? [], checked.fileWarnings].flat(),
    powerShellPaths: powershellPath === undefined ? listPowerShellPaths() : [powershellPath],
  };
};

/** Plan that results from settings and features before anything is opened. */
export type Plan = ReturnType<typeof preflight>;

/** Throws a SettingsError if the active features cannot apply these settings at runtime. */
export const assertReloadable = (settings: Settings, active: readonly Feature[]): void =>
  assertNoProblems([
    ...findConflicts(settings),
    ...findFeatureProblems(settings, active),
    ...findExposedFiles(listPrivateFiles(settings, active)).problems,
  ]);

/**
 * Returns warnings about files that other accounts can read. Throws a SettingsError for files that other accounts can
 * write.
 */
const checkFiles = (settings: Settings, features: readonly Feature[]): string[] => {
  const { problems, warnings } = findExposedFiles(listPrivateFiles(settings, features));
  assertNoProblems(problems);
  return warnings;
};

const listPrivateFiles = (settings: Settings, features: readonly Feature[]): PrivateFiles => ({
  dataDir: settings.dataDir,
  files: [
    ...(settings.tlsKey === undefined ? [] : [{ name: 'tlsKey', path: settings.tlsKey }]),
    ...features.flatMap((feature) => feature.listSecretFiles?.(pickOwn(settings, feature.settings)) ?? []),
  ],
});

/**
 * Returns the mounts and the active features. A feature is active if it has a served profile, is turned on, or is
 * needed by an active feature.
 */
const chooseProfiles = (settings: Settings, features: readonly Feature[]) => {
  const offered = features.filter(
    ({ needsDatabase }) => !needsDatabase || parseStore(settings.store).kind === 'postgresql',
  );
  const mounts = resolveMounts(settings, offered);
  const accessProblems = findAccessProblems(
    settings.access,
    features.flatMap(({ profiles }) => profiles),
  );
  const served = new Set(mounts.flatMap(({ profiles }) => profiles));
  const chosen = offered.filter(
    (feature) =>
      feature.profiles.some(({ name }) => served.has(name)) || feature.isOn?.(pickOwn(settings, feature.settings)),
  );
  const active = addNeeded(chosen, offered);
  assertNoProblems([...accessProblems, ...findFeatureProblems(settings, active), ...findSharingProblems(settings)]);
  return { mounts, active };
};

/** Returns the chosen features and the features that they need, in list order. */
const addNeeded = (chosen: readonly Feature[], all: readonly Feature[]): Feature[] => {
  const names = new Set(chosen.map(({ name }) => name));
  // Iterating over a Set also visits names that are added meanwhile.
  for (const name of names) for (const need of all.find((one) => one.name === name)?.needs ?? []) names.add(need);
  return all.filter(({ name }) => names.has(name));
};

/** Returns each problem only once, because features can share a setting. */
const findFeatureProblems = (settings: Settings, features: readonly Feature[]): string[] => [
  ...new Set(features.flatMap((feature) => feature.findProblems?.(pickOwn(settings, feature.settings)) ?? [])),
  ...findThingProblems(features.flatMap((feature) => feature.listThings?.(pickOwn(settings, feature.settings)) ?? [])),
];

/**
 * Returns problems with the setting `store`, alone and combined with other settings, because instances that share a
 * database must agree. The problems contain no secrets.
 */
const findSharingProblems = ({ store: setting, jwtSecret, timeZone }: Settings): string[] => {
  const store = parseStore(setting);
  const problems = findStoreProblems(store);
  if (store.kind !== 'postgresql') return problems;
  const missing = [
    ...(jwtSecret === undefined ? ['jwtSecret'] : []),
    ...(timeZone === undefined && !process.env['TZ'] ? ['timeZone'] : []),
  ];
  return [
    ...problems,
    ...missing.map((each) => `store: all instances that share a database need the same ${each}: set ${each}`),
  ];
};

const listSeedSchemas = (features: readonly Feature[]): Record<string, TSchema> =>
  Object.assign({}, ...features.map(({ seed }) => seed));

/**
 * Returns the user's folder for `/docs/`. Undefined if none is set. Throws a SettingsError if the path is not a folder,
 * or if the folder contains a link that leads outside.
 */
const findPublicFolder = ({ publicDir }: Settings): string | undefined => {
  if (publicDir === undefined) return undefined;
  const folder = resolve(publicDir);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SettingsError([`publicDir ${folder} is not a folder`]);
  }
  const link = findEscapingLink(folder);
  if (link !== undefined)
    throw new SettingsError([`publicDir contains a link that leads outside the folder: remove ${link}`]);
  return folder;
};

/** Returns the entries with keys in `shape`, so that a feature receives only its own settings and records. */
export const pickOwn = <T>(values: Record<string, T>, shape: object = {}): Record<string, T> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => Object.hasOwn(shape, key)));
