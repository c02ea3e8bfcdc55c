import type { FastifyBaseLogger } from 'fastify';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import Type from 'typebox';
import type { AccessKeys } from '../auth/access.ts';
import type { Authorize, IdentifySender } from '../auth/guard.ts';
import type { Tokens } from '../auth/token.ts';
import type { HostReadings } from '../host/readings.ts';
import type { ProgramPages, ReadFile } from '../http/pages.ts';
import { StoreUnavailable } from '../lib/expected-errors.ts';
import type { Meters } from '../metrics/meters.ts';
import type { Awaitable } from '../storage/list.ts';
import type { PortableStore } from '../storage/portable-store.ts';
import type { Storage } from '../storage/storage.ts';
import type { Offers } from './offers.ts';
import { type Route, uuidForm } from './route.ts';
import type { Severity } from './severity.ts';
import type { Topic } from './topic.ts';

/** Areas of concerns. Concerns of equal severity are sorted in this order. */
export const concernAreas = ['incidents', 'deliveries', 'stores', 'log', 'host'] as const;

/** A current problem, shown by the status. */
export interface Concern {
  area: (typeof concernAreas)[number];
  severity: Severity;
  /** One sentence for people. Everybody with access to the status sees it, so use counts instead of names. */
  text: string;
}

/** Random secrets, used if the settings do not define them. */
export interface RandomSecrets {
  /** File that stores the secrets across restarts; undefined if the secrets last until the process ends. */
  file: string | undefined;
  /** Returns the secret with the name; a new secret has `bytes` random bytes. Throws a SettingsError if it cannot be stored. */
  get(name: string, bytes: number): string;
}

/** Parts of the app for features; the `create` of each feature destructures the few that it uses. */
export interface Parts {
  /** Version of signalbox. */
  version: string;
  /** Reads a file of the program, from the folder of its package or from the single executable. */
  readProgramFile: ReadFile;
  storage: Storage;
  /** Returns the 401 or 403 for a caller without access, like the guard of a route. */
  authorize: Authorize;
  /** Returns the sender of the alerts in a request, on open routes too. */
  identifySender: IdentifySender;
  /** Returns the topics of all active features by name. Like the next two, throws an Error until all features are created. */
  topics: () => ReadonlyMap<string, Topic>;
  /** Resolves to the names of the active features whose changes cannot be stored now. */
  listUnavailable: () => Promise<string[]>;
  /** Resolves to the concerns of all active features, stores and logs, in no particular order. */
  findConcerns: () => Promise<Concern[]>;
  /** Registry of meters for /metrics. */
  meters: Meters;
  clock: () => Date;
  /** Absolute paths of possible PowerShells; the first that exists is used. */
  powerShellPaths: readonly string[];
  host: HostReadings;
  log: FastifyBaseLogger;
  tokens: Tokens;
  /** Accepted keys. */
  keys: AccessKeys;
  secrets: RandomSecrets;
  /**
   * Returns keys of 32 bytes for one purpose, derived from the current and the previous `jwtSecret`, so that instances share them.
   * The first key signs; signatures of all keys are valid. Empty if `jwtSecret` is not set.
   */
  deriveKeys: (purpose: string) => readonly Buffer[];
  /** Base path of the first mount with a profile of the feature; undefined without a mount. */
  base: string | undefined;
  /** Sources of the active features. Reading the source of a feature that is still to be created throws an Error. */
  offers: Offers;
  /** Records of the feature in the seed file, by key; valid by the schemas in `seed`. */
  records: Record<string, unknown[]>;
}

export interface Profile {
  name: string;
  /** Other names of the profile in settings, such as a letter. An alias of several profiles selects all of them. */
  aliases?: readonly string[];
  /** Base paths where the profile is mounted by default; none if only settings mount it. */
  mounts?: readonly string[];
  /** One line for the start message and the documentation. */
  summary: string;
  /** True to serve only its own routes: other methods on their paths, also HEAD and `GET /`, are 404. */
  strict?: boolean;
  /** Access that the setting `access` cannot change: `closed` always needs a token, `open` never, because it issues tokens. */
  fixedAccess?: 'closed' | 'open';
}

/** A screen of the console that somebody must open, such as the first login. */
export interface Invitation {
  /** Purpose, for the message. */
  text: string;
  /** Profile that the screen needs. */
  profile: string;
  /** Fragment of the URL, from the `#` on. */
  fragment: string;
}

export interface FeatureInstance<Settings = Record<string, unknown>> {
  /** Routes by profile name. */
  profiles: Record<string, Route[]>;
  /** Pages, to which `GET /` redirects. If `missing` is set, the pages are 404 with that reason. */
  pages?: ProgramPages & { read: ReadFile; missing: string | undefined };
  /** The feature's source for other features, under its own name. */
  offers?: Offers;
  /** Topics of /api/events by name. */
  topics?: Record<string, Topic>;
  /** Messages printed on startup, e.g. random passwords and open routes. */
  notices?: string[];
  /** Warning printed on startup and shown on every screen of the console. */
  warning?: string | undefined;
  /** Screen of the console that the start message links to. */
  invitation?: Invitation | undefined;
  /** Returns current concerns, worst first. Called about once a second, so it must read only memory. */
  findConcerns?(): Concern[];
  /** True if changes can be stored now; true by default. */
  isReady?(): Awaitable<boolean>;
  /** Starts background work; called when the server listens. */
  start?(): void;
  /** Ends streaming responses; called when shutdown begins. */
  stop?(): void;
  /** Applies settings that were reloaded and checked (SIGHUP); returns messages to print. */
  reload?(settings: Settings): string[];
  /** Completes acknowledged work and releases files, timers and child processes. */
  close?(): Promise<void>;
}

/** Command line command of a feature: `signalbox NAME TEXT`. */
export interface Tool {
  name: string;
  /** Name of the only argument for `--help`, in capitals; in quotes if the argument may have spaces. */
  argument: { name: string; isQuoted?: true };
  summary: string;
  /**
   * Returns the output; the exit code is 0 if `ok`. `readSettings` reads the settings like a start, and throws a SettingsError if
   * they are invalid.
   */
  run(text: string, readSettings: () => Record<string, unknown>): ToolResult | Promise<ToolResult>;
}

interface ToolResult {
  output: string;
  ok: boolean;
}

/** Export and import of a feature's store: its changes, as lines with one key and a value. */
export interface Transfer<Change = unknown> extends PortableStore<Change> {
  /** Schemas of the values, by keys that no other store uses. */
  lines: Record<string, TSchema>;
  /**
   * Creates the function that converts lines to changes, called for all lines in their order with valid values. The function
   * throws a SettingsError with a clause such as `settings.id occurs twice`.
   */
  createParser(): (key: string, value: unknown) => Change;
}

/** Id of an exported record. */
export const RecordId = Type.String({
  pattern: uuidForm.source,
  description: 'A UUID in lower case',
});

/** Types a transfer by the type of its changes. */
export const defineTransfer = <Change>(transfer: Transfer<Change>): Transfer => transfer as unknown as Transfer;

/** A folder of `features/`: one or more profiles that share a store, with their own settings. */
export interface Feature<P extends TProperties = TProperties, Need extends keyof Offers = never> {
  name: string;
  /**
   * Features that are active whenever this feature is, even if none of their profiles is mounted. If features need each other, the
   * earlier one in the list of features reads the source of the later one only after both are created.
   */
  needs?: readonly Need[];
  profiles: Profile[];
  /** Settings of the feature with their defaults. The feature receives only these settings. */
  settings: P;
  /** Schemas of the feature's records in a seed file, by the file's key. */
  seed?: Record<string, TSchema>;
  /** Returns conflicts between settings that are each valid, as clauses; called before features are created. */
  findProblems?(settings: Static<TObject<P>>): string[];
  /** Returns the files with secrets in valid settings, with their names for messages. */
  listSecretFiles?(settings: Static<TObject<P>>): { name: string; path: string }[];
  tools?: Tool[];
  /** Export and import of the store. */
  transfer?: Transfer;
  /** True if the profiles exist only with a shared database. */
  needsDatabase?: boolean;
  /** True if the settings turn the feature on even without a mounted profile. */
  isOn?(settings: Static<TObject<P>>): boolean;
  /** Creates the feature if a profile is mounted, `isOn` is true or another feature needs it. Throws a SettingsError. */
  create(
    parts: Parts & { settings: Static<TObject<P>>; offers: Offers & Required<Pick<Offers, Need>> },
  ): Created<P> | Promise<Created<P>>;
}

type Created<P extends TProperties> = FeatureInstance<Static<TObject<P>>>;

/** Types the settings of a feature by its schema, and the sources of the features that it needs. */
export const defineFeature = <const P extends TProperties, const Need extends keyof Offers = never>(
  feature: Feature<P, Need>,
): Feature => feature as unknown as Feature;

/** Loads the seed. If the store cannot be used, logs the reason and continues without the seed. */
export const loadSeed = async (
  restore: () => Promise<void>,
  log: { warn(details: object, message: string): void },
): Promise<void> => {
  try {
    await restore();
  } catch (err) {
    if (!(err instanceof StoreUnavailable)) throw err;
    log.warn({ err }, 'the seed was not loaded: the store cannot be used; start again later to load it');
  }
};
