import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { HttpError } from '../../http/errors.ts';
import { defineShape } from '../../kit/route.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin, toSettingFacts } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { type Targets, UncheckedTarget } from '../../kit/targets.ts';
import {
  type GivenDestination,
  keepSecrets,
  listHidden,
  type StoredDestination,
  toShownUrl,
} from './destination-secrets.ts';
import { toTarget } from './destinations/target.ts';
import { DestinationParams } from './schema.ts';
import { DestinationSettings, destinationNamePattern, mostDestinations } from './settings.ts';

/** A destination, and who has made it if the config file has not. */
export interface KnownDestination {
  name: string;
  settings: DestinationSettings;
  setting: RuntimeSetting<StoredDestination> | undefined;
}

/** @throws HttpError */
const assertNameForm = (name: string): void => {
  if (new RegExp(destinationNamePattern).test(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a destination has up to 64 letters, digits, "_" and "-", and begins with a letter or digit',
  );
};

/** Returns the URL of one that may be made at run time. @throws HttpError */
const parseUsable = (settings: DestinationSettings): URL => {
  const { secretFile, tokenFile, caFile, headers = {} } = settings;
  const isIndirect = Object.values(headers).some((value) => typeof value !== 'string');
  // Otherwise whoever administers signalbox could read the files of the machine.
  if (secretFile !== undefined || tokenFile !== undefined || isIndirect) {
    throw new HttpError('invalid', 'Secrets in files and variables can only be named in the config file');
  }
  if (caFile !== undefined) throw new HttpError('invalid', 'caFile can only be set in the config file: use ca');
  try {
    return toTarget(settings, true).receiver.url;
  } catch (error) {
    if (error instanceof SettingsError) throw new HttpError('invalid', error.problems.join('; '));
    throw error;
  }
};

/** @throws HttpError */
const compile = (setting: RuntimeSetting<StoredDestination>): KnownDestination => {
  const { name, value } = setting;
  const known = { name, settings: { ...value, name }, setting };
  assertNameForm(name);
  parseUsable(known.settings);
  return known;
};

/** The members of a destination that are shown: all but those with secrets. */
const { name, url, secret: _, token: __, headers: ___, ...others } = DestinationSettings.properties;

export const ShownDestination = defineShape('Destination', {
  name,
  origin: settingOrigin,
  settings: Type.Object(
    { ...others, url: { ...url, description: 'Without its path, which may be secret.' } },
    { title: 'DestinationSettings', description: 'As in the config file, without secrets.' },
  ),
  hidden: Type.Array(Type.Enum(['url', 'secret', 'token', 'headers'], { type: 'string', examples: ['secret'] }), {
    description: 'What it has, but is not shown.',
  }),
  ...settingFacts,
});
type ShownDestination = Static<typeof ShownDestination>;

/** Without secrets; the path of a URL is often one. */
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
 * Refuses one whose host must not be reached. One that is stored stays, since that may change: its sender refuses to send.
 * @throws HttpError
 */
export const assertReachable = ({ settings }: KnownDestination, targets: Targets): void => {
  try {
    targets.assertHost(parseUsable(settings).hostname);
  } catch (error) {
    if (!(error instanceof UncheckedTarget)) throw error;
    throw new HttpError(
      'invalid',
      `${error.message}: allow it in watchTargets, or define the destination in the config file`,
    );
  }
};

/** Destinations: who is told, and which programs get alerts. */
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
  // Names are parts of file names, of which some systems do not tell apart capitals.
  isCaseless: true,
  order: 'name',
  assertName: assertNameForm,
  compile,
  fromConfig: (settings) => ({ name: settings.name, settings, setting: undefined }),
  complete: (given, { known }) => keepSecrets(given, known?.settings),
  words: {
    conflict: (name, version) =>
      version === 0
        ? `There is no destination ${name} any more`
        : `There is a destination ${name}, of version ${version}`,
  },
});

export type DestinationKeeper = SettingKeeper<
  StoredDestination,
  KnownDestination,
  DestinationSettings,
  GivenDestination
>;

/** All destinations, for the outbox. */
export const listEntries = (keeper: DestinationKeeper) => ({
  destinations: keeper.listConfigured().map(({ settings }) => settings),
  made: keeper.listRuntime().map(({ settings }) => settings),
  madeAt: new Map(keeper.listStored().map(({ name, createdAt }) => [name, createdAt])),
});
