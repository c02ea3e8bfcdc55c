import { SettingsError } from '../../config/settings-error.ts';
import { StoreConflict, StoreUnavailable } from '../../expected-errors.ts';
import { HttpError } from '../../http/errors.ts';
import { createSerial } from '../../storage/scheduling.ts';
import { CompiledSettings } from '../compiled-settings.ts';
import type { MadeSetting, SettingStore } from '../offers.ts';
import { createTargets } from '../targets.ts';
import { type DestinationSettings, mostDestinations, namePattern, toTarget } from './settings.ts';

/** As settings made at run time. */
const destinationKind = 'destination';

/** A destination as it is stored, with its secrets. */
type StoredDestination = Omit<DestinationSettings, 'name'>;

/** What a request says a destination shall be: what only its receiver knows can be left out. */
export type GivenDestination = Partial<Pick<StoredDestination, 'url'>> & Omit<StoredDestination, 'url'>;

/** A destination, and who has made it if the config file has not. */
export interface KnownDestination {
  settings: DestinationSettings;
  made: MadeSetting<StoredDestination> | undefined;
}

interface KeeperParts {
  /** Undefined where nothing can be made at run time. */
  settings: SettingStore | undefined;
  configured: readonly DestinationSettings[];
  /** Gets the error of one that cannot be used. */
  onUnusable(name: string, error: Error): void;
}

/** Ends what is shown of a URL whose rest may be secret. */
export const hiddenPath = '/***';

/** All destinations: those of the config file, and those that people have made. */
export class DestinationKeeper {
  readonly #parts: KeeperParts;
  #configured: readonly DestinationSettings[];
  readonly #compiled: CompiledSettings<StoredDestination, KnownDestination>;
  readonly #serially = createSerial();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#configured = parts.configured;
    this.#compiled = new CompiledSettings({ ...parts, kind: destinationKind, compile });
  }

  get isChangeable(): boolean {
    return this.#parts.settings !== undefined;
  }

  onChanged(listener: () => void): void {
    this.#compiled.onChanged(listener);
  }

  setConfigured(configured: readonly DestinationSettings[]): void {
    this.#configured = configured;
  }

  /** For the outbox. */
  get current() {
    const made = this.#parts.settings?.list(destinationKind) ?? [];
    return {
      destinations: this.#configured,
      made: this.#made.map(({ settings }) => settings),
      madeAt: new Map(made.map(({ name, createdAt }) => [name, createdAt])),
    };
  }

  /** By name. */
  list(): KnownDestination[] {
    const configured = this.#configured.map((settings) => ({ settings, made: undefined }));
    return [...configured, ...this.#made].sort((one, other) => (one.settings.name < other.settings.name ? -1 : 1));
  }

  find(name: string): KnownDestination | undefined {
    return this.list().find(({ settings }) => settings.name === name);
  }

  /** Creates or replaces one; resolves to it. Rejects with an HttpError. */
  put(name: string, given: GivenDestination, by: string, expected?: readonly number[]): Promise<KnownDestination> {
    // One after the other: of two new ones with one name in other letters, the second must know the first.
    return this.#serially(async () => {
      const store = this.#requireSettings(name);
      await store.catchUp();
      const known = this.find(name);
      if (!known) this.#assertRoom(name);
      const version = known?.made?.version ?? 0;
      // Before anything else is said of the request, which may be about another one than there is.
      if (expected && !expected.includes(version)) throw toConflict(name, version);
      const value = complete(given, known?.settings);
      assertUsable({ name, ...value });
      // What was kept of it must not come from a version that somebody has replaced meanwhile.
      const made = await store.put(destinationKind, name, value, by, [version]);
      return toKnown(made);
    });
  }

  async delete(name: string, by: string, expected?: readonly number[]): Promise<boolean> {
    return this.#requireSettings(name).delete(destinationKind, name, by, expected);
  }

  #requireSettings(name: string): SettingStore {
    const { settings } = this.#parts;
    if (!settings) throw new StoreUnavailable('Settings are not mounted');
    if (this.#isConfigured(name)) {
      throw new HttpError('wrong-state', `Destination ${name} is in the config file: change it there`);
    }
    return settings;
  }

  #assertRoom(name: string): void {
    assertNameForm(name);
    const same = this.list().find(({ settings }) => isSameName(settings.name, name));
    if (same) throw new HttpError('wrong-state', `There is a destination ${same.settings.name}: choose another name`);
    if (this.list().length >= mostDestinations) {
      throw new HttpError('wrong-state', `There are ${mostDestinations} destinations: delete some first`);
    }
  }

  #isConfigured(name: string): boolean {
    return this.#configured.some((one) => isSameName(one.name, name));
  }

  get #made(): KnownDestination[] {
    return this.#compiled.list().filter(({ settings }) => !this.#isConfigured(settings.name));
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
  if (new RegExp(namePattern).test(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a destination has up to 64 letters, digits, "_" and "-", and begins with a letter or digit',
  );
};

/** Names are parts of file names, of which some systems do not tell apart capitals. */
const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** @throws HttpError */
const compile = (made: MadeSetting<StoredDestination>): KnownDestination => {
  const known = toKnown(made);
  assertNameForm(known.settings.name);
  assertUsable(known.settings);
  return known;
};

const toKnown = (made: MadeSetting<StoredDestination>): KnownDestination => ({
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

/** @throws HttpError */
const assertUsable = (settings: DestinationSettings): void => {
  const { secretFile, tokenFile, headers = {} } = settings;
  const isIndirect = Object.values(headers).some((value) => typeof value !== 'string');
  // Otherwise whoever administers signalbox could read the files of the machine.
  if (secretFile !== undefined || tokenFile !== undefined || isIndirect) {
    throw new HttpError('invalid', 'Secrets in files and variables can only be named in the config file');
  }
  try {
    const { receiver } = toTarget(settings, true);
    createTargets([]).assertHost(receiver.url.hostname);
  } catch (error) {
    if (error instanceof SettingsError) throw new HttpError('invalid', error.problems.join('; '));
    throw new HttpError('invalid', 'url has an address that may only be in the config file');
  }
};
