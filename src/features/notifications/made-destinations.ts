import { SettingsError } from '../../config/settings-error.ts';
import { HttpError } from '../../http/errors.ts';
import { type KeeperParts, MergedSettings } from '../../kit/compiled-settings.ts';
import type { RuntimeSetting } from '../../kit/offers.ts';
import { type Targets, UncheckedTarget } from '../../kit/targets.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { createSerial } from '../../lib/scheduling.ts';
import { toTarget } from './destinations/target.ts';
import { type DestinationSettings, destinationNamePattern, mostDestinations } from './settings.ts';

/** As settings made at run time. */
const destinationKind = 'destination';

/** A destination as it is stored, with its secrets. */
type StoredDestination = Omit<DestinationSettings, 'name'>;

/** What a request says a destination shall be: what only its receiver knows can be left out. */
export type GivenDestination = Partial<Pick<StoredDestination, 'url'>> & Omit<StoredDestination, 'url'>;

/** A destination, and who has made it if the config file has not. */
export interface KnownDestination {
  name: string;
  settings: DestinationSettings;
  made: RuntimeSetting<StoredDestination> | undefined;
}

/** Ends what is shown of a URL whose rest may be secret. */
export const hiddenPath = '/***';

/** All destinations: those of the config file, and those that people have made. */
export class DestinationKeeper extends MergedSettings<StoredDestination, KnownDestination> {
  readonly #serially = createSerial();

  readonly #targets: Targets;

  constructor({ configured, targets, ...parts }: KeeperParts<DestinationSettings> & { targets: Targets }) {
    const names = { kind: destinationKind, noun: 'Destination', path: '/api/destinations', most: mostDestinations };
    super({ ...parts, ...names, compile, toKey, configured: configured.map(toConfigured) });
    this.#targets = targets;
  }

  configure(configured: readonly DestinationSettings[]): void {
    this.setConfigured(configured.map(toConfigured));
  }

  /** For the outbox. */
  get current() {
    const made = this.settings?.list(destinationKind) ?? [];
    return {
      destinations: this.configured.map(({ settings }) => settings),
      made: this.made.map(({ settings }) => settings),
      madeAt: new Map(made.map(({ name, createdAt }) => [name, createdAt])),
    };
  }

  /** Creates or replaces one; resolves to it. Rejects with an HttpError. */
  put(name: string, given: GivenDestination, by: string, expected?: readonly number[]): Promise<KnownDestination> {
    // One after the other: of two new ones with one name in other letters, the second must know the first.
    return this.#serially(async () => {
      const store = this.requireSettings(name);
      await store.catchUp();
      const known = this.find(name);
      if (!known) this.#assertNew(name);
      // One that cannot be read is replaced.
      const version = store.find(destinationKind, name)?.version ?? 0;
      // Before anything else is said of the request, which may be about another one than there is.
      if (expected && !expected.includes(version)) throw toConflict(name, version);
      const value = complete(given, known?.settings);
      assertReachable(assertUsable({ name, ...value }), this.#targets);
      // What was kept of it must not come from a version that somebody has replaced meanwhile.
      const made = await store.put(destinationKind, name, value, by, [version], this.limits);
      return toKnown(made);
    });
  }

  #assertNew(name: string): void {
    assertNameForm(name);
    const same = this.list().find((one) => toKey(one.name) === toKey(name));
    if (same) throw new HttpError('wrong-state', `There is a destination ${same.name}: choose another name`);
  }
}

const toConflict = (name: string, version: number): StoreConflict =>
  new StoreConflict(
    version === 0
      ? `There is no destination ${name} any more`
      : `There is a destination ${name}, of version ${version}`,
    version,
  );

/** @throws HttpError */
const assertNameForm = (name: string): void => {
  if (new RegExp(destinationNamePattern).test(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a destination has up to 64 letters, digits, "_" and "-", and begins with a letter or digit',
  );
};

/** Names are parts of file names, of which some systems do not tell apart capitals. */
const toKey = (name: string): string => name.toLowerCase();

const toConfigured = (settings: DestinationSettings): KnownDestination => ({
  name: settings.name,
  settings,
  made: undefined,
});

/** @throws HttpError */
const compile = (made: RuntimeSetting<StoredDestination>): KnownDestination => {
  const known = toKnown(made);
  assertNameForm(known.name);
  assertUsable(known.settings);
  return known;
};

const toKnown = (made: RuntimeSetting<StoredDestination>): KnownDestination => ({
  name: made.name,
  settings: { ...made.value, name: made.name },
  made,
});

/** The names of the members with secrets that can be left out, and stay then. */
const credentials = ['secret', 'token', 'headers'] as const;

/**
 * What is stored: with the secrets of the known one where the request has none, unless they would go somewhere else.
 * @throws HttpError
 */
const complete = (given: GivenDestination, known: DestinationSettings | undefined): StoredDestination => {
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

/** Returns the URL. @throws HttpError */
const assertUsable = (settings: DestinationSettings): URL => {
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

/** One that is stored stays, since the setting may change again: its sender refuses to send. @throws HttpError */
const assertReachable = ({ hostname }: URL, targets: Targets): void => {
  try {
    targets.assertHost(hostname);
  } catch (error) {
    if (!(error instanceof UncheckedTarget)) throw error;
    throw new HttpError(
      'invalid',
      `${error.message}: allow it in watchTargets, or define the destination in the config file`,
    );
  }
};
