import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { HttpError } from '../../http/errors.ts';
import type { RuntimeSetting } from '../../kit/offers.ts';
import { defineShape } from '../../kit/route.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin, toSettingFacts } from '../../kit/setting-kind.ts';
import { type Targets, UncheckedTarget } from '../../kit/targets.ts';
import { toTarget } from './destinations/target.ts';
import { DestinationParams } from './schema.ts';
import { DestinationSettings, destinationNamePattern, mostDestinations } from './settings.ts';

/** A destination as it is stored, with its secrets. */
type StoredDestination = Omit<DestinationSettings, 'name'>;

/** What a request says a destination shall be: what only its receiver knows can be left out. */
export type GivenDestination = Partial<Pick<StoredDestination, 'url'>> & Omit<StoredDestination, 'url'>;

/** A destination, and who has made it if the config file has not. */
export interface KnownDestination {
  name: string;
  settings: DestinationSettings;
  setting: RuntimeSetting<StoredDestination> | undefined;
}

/** Ends what is shown of a URL whose rest may be secret. */
export const hiddenPath = '/***';

/** @throws HttpError */
const assertNameForm = (name: string): void => {
  if (new RegExp(destinationNamePattern).test(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a destination has up to 64 letters, digits, "_" and "-", and begins with a letter or digit',
  );
};

/** @throws HttpError */
const compile = (setting: RuntimeSetting<StoredDestination>): KnownDestination => {
  const { name, value } = setting;
  const known = { name, settings: { ...value, name }, setting };
  assertNameForm(name);
  parseUsable(known.settings);
  return known;
};

/** The members of a destination that can be shown, and those with secrets. */
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
  const { name: shownName, url: whole, secret: one, token: other, headers: more, ...rest } = settings;
  const shownUrl = toShownUrl(whole);
  const hidden = [
    ...(shownUrl.endsWith(hiddenPath) ? (['url'] as const) : []),
    ...(one === undefined ? [] : (['secret'] as const)),
    ...(other === undefined ? [] : (['token'] as const)),
    ...(more === undefined || Object.keys(more).length === 0 ? [] : (['headers'] as const)),
  ];
  return {
    name: shownName,
    origin: setting ? 'made' : 'config',
    settings: { ...rest, url: shownUrl },
    hidden,
    ...toSettingFacts(setting),
  };
};

/** The names of the members with secrets that can be left out, and stay then. */
const credentials = ['secret', 'token', 'headers'] as const;

/**
 * What is stored: with the secrets of the known one where the request has none, unless they would go somewhere else.
 * @throws HttpError
 */
const keepSecrets = (given: GivenDestination, known: DestinationSettings | undefined): StoredDestination => {
  const isKept = given.url === undefined || (known && given.url === toShownUrl(known.url));
  const url = isKept ? known?.url : given.url;
  if (url === undefined) throw new HttpError('invalid', 'url is required');
  if (!isKept && url.endsWith(hiddenPath)) {
    throw new HttpError(
      'invalid',
      `url ends with ${hiddenPath}, which stands for what is hidden: give the whole address`,
    );
  }
  const value = { ...given, url };
  const hasOwn = credentials.some((key) => given[key] !== undefined);
  const kept = Object.fromEntries(credentials.flatMap((key) => (known?.[key] ? [[key, known[key]]] : [])));
  if (hasOwn || !known || Object.keys(kept).length === 0) return value;
  if (originOf(value.url) !== originOf(known.url)) {
    throw new HttpError(
      'invalid',
      'url leads elsewhere, where the known secrets must not be sent: give secret, token or headers again, or headers {} for none',
    );
  }
  return { ...value, ...kept };
};

const originOf = (text: string): string => {
  if (!URL.canParse(text)) return text;
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
};

/** The URL without what may be secret. */
export const toShownUrl = (text: string): string => {
  const { pathname, search, hash } = new URL(text);
  return originOf(text) + (`${pathname}${search}${hash}`.replace(/^\//, '') === '' ? '' : hiddenPath);
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

/** Refuses one whose host must not be reached. One that is stored stays, since that may change: its sender refuses to send. @throws HttpError */
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

/** Destinations, with their secrets. */
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
  made: keeper.listMade().map(({ settings }) => settings),
  madeAt: new Map(keeper.listStored().map(({ name, createdAt }) => [name, createdAt])),
});
