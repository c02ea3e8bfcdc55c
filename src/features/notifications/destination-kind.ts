import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { HttpError } from '../../http/errors.ts';
import { type Reach, UncheckedAddress } from '../../kit/reach.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin, toSettingFacts } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { defineShape } from '../../kit/shape.ts';
import {
  type GivenDestination,
  keepSecrets,
  listHidden,
  type StoredDestination,
  shownProperties,
  toShownUrl,
} from './destination-secrets.ts';
import { toDestinationDefinition } from './destinations/definition.ts';
import type { DestinationEntries } from './open-destinations.ts';
import { DestinationParams } from './schema.ts';
import { assertDestinationName, DestinationSettings, mostDestinations } from './settings.ts';

/** Destination from the config file or the runtime settings. */
export interface KnownDestination {
  name: string;
  settings: DestinationSettings;
  /** Runtime setting. Undefined for a destination from the config file. */
  setting: RuntimeSetting<StoredDestination> | undefined;
}

/**
 * Parses the URL of a destination, with the restrictions for runtime settings. Throws an HttpError if the URL is not
 * allowed.
 */
const parseUsable = (settings: DestinationSettings): URL => {
  const { secretFile, tokenFile, caFile, headers = {} } = settings;
  const isIndirect = Object.values(headers).some((value) => typeof value !== 'string');
  // Otherwise, a signalbox administrator could read files on the machine.
  if (secretFile !== undefined || tokenFile !== undefined || isIndirect) {
    throw new HttpError('invalid', 'Files and variables with secrets can be named only in the config file');
  }
  if (caFile !== undefined) throw new HttpError('invalid', 'caFile can be set only in the config file: use ca');
  try {
    return toDestinationDefinition(settings, true).receiver.url;
  } catch (error) {
    if (error instanceof SettingsError) throw new HttpError('invalid', error.problems.join('; '));
    throw error;
  }
};

/** @throws HttpError if the destination is invalid */
const compile = (setting: RuntimeSetting<StoredDestination>): KnownDestination => {
  const { name, value } = setting;
  const known = { name, settings: { ...value, name }, setting };
  assertDestinationName('destination', name);
  parseUsable(known.settings);
  return known;
};

export const ShownDestination = defineShape('Destination', {
  name: DestinationSettings.properties.name,
  origin: settingOrigin,
  settings: Type.Object(
    {
      ...shownProperties,
      url: { ...DestinationSettings.properties.url, description: 'URL without the path, which may be secret.' },
    },
    { title: 'DestinationSettings', description: 'Settings as in the config file, without secrets.' },
  ),
  hidden: Type.Array(Type.Enum(['url', 'secret', 'token', 'headers'], { type: 'string', examples: ['secret'] }), {
    description: 'Names of settings that have a value but are not shown, such as secrets.',
  }),
  ...settingFacts,
});
type ShownDestination = Static<typeof ShownDestination>;

/** Hides the secrets of a destination. The path of a URL is often a secret. */
export const toShownDestination = ({ settings, setting }: KnownDestination): ShownDestination => {
  const { name: shownName, url: whole, secret: _one, token: _other, headers: _more, ...rest } = settings;
  return {
    name: shownName,
    origin: setting ? 'made' : 'config',
    settings: { ...rest, url: toShownUrl(whole) },
    hidden: listHidden(settings),
    ...toSettingFacts(setting),
  };
};

/**
 * Throws an HttpError if requests to the destination's host are forbidden. A stored destination is accepted, because
 * `watchTargets` may change. Its transport then refuses to send.
 */
export const assertReachable = ({ settings }: KnownDestination, reach: Reach): void => {
  try {
    reach.assertHost(parseUsable(settings).hostname);
  } catch (error) {
    if (!(error instanceof UncheckedAddress)) throw error;
    throw new HttpError(
      'invalid',
      `${error.message}: add the host to watchTargets, or define the destination in the config file`,
    );
  }
};

export const destinationKind = defineSettingKind<
  StoredDestination,
  KnownDestination,
  DestinationSettings,
  GivenDestination
>({
  name: 'destination',
  noun: 'Destination',
  path: '/api/destinations',
  params: DestinationParams,
  shape: ShownDestination,
  reading: needs('notifications:read'),
  changing: needs('settings:write'),
  limits: { count: mostDestinations, plural: 'destinations', withConfigured: true },
  // Names are used in file names, and these are case-insensitive on some systems.
  isCaseless: true,
  order: 'name',
  assertName: (name) => assertDestinationName('destination', name),
  compile,
  fromConfig: (settings) => ({ name: settings.name, settings, setting: undefined }),
  complete: (given, { known }) => keepSecrets(given, known?.settings),
  words: {
    conflict: (name, version) =>
      version === 0
        ? `Destination ${name} no longer exists`
        : `Destination ${name} already exists; its current version is ${version}`,
  },
});

export type DestinationKeeper = SettingKeeper<
  StoredDestination,
  KnownDestination,
  DestinationSettings,
  GivenDestination
>;

/** Returns the settings of all destinations. */
export const listEntries = (keeper: DestinationKeeper): DestinationEntries => ({
  configured: keeper.listConfigured().map(({ settings }) => settings),
  runtime: keeper.listRuntime().map(({ settings }) => settings),
  createdAt: new Map(keeper.listStored().map(({ name, createdAt }) => [name, createdAt])),
});
