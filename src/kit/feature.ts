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
import type { Thing } from './dependencies.ts';
import type { Offers } from './offers.ts';
import type { Route } from './route.ts';
import type { Severity } from './severity.ts';
import { uuidForm } from './shape.ts';
import type { Topic } from './topic.ts';

/** Areas of concerns, in the order used to sort concerns of equal severity. */
export const concernAreas = ['incidents', 'deliveries', 'stores', 'log', 'host'] as const;

/** Current problem, shown in the status. */
export interface Concern {
  area: (typeof concernAreas)[number];
  severity: Severity;
  /** Sentence for people. Everyone with access to the status can see it, so it contains counts instead of names. */
  text: string;
}

/** Random secrets, used if the settings define none. */
export interface RandomSecrets {
  /** File that preserves the secrets across restarts. Undefined if they last only until the process ends. */
  file: string | undefined;
  /**
   * Returns the secret with a name. A new secret has `bytes` random bytes. Throws a SettingsError if the secret cannot
   * be stored.
   */
  get(name: string, bytes: number): string;
}

/** Parts of the app that features can use. The `create` function of each feature takes only those that it needs. */
export interface Parts {
  /** Version of signalbox. */
  version: string;
  /** Reads one of the program's files, either from its package folder or from the single executable. */
  readProgramFile: ReadFile;
  storage: Storage;
  /** Returns the 401 or 403 for a caller without access, as the guard of a route does. */
  authorize: Authorize;
  /** Returns the sender of the alerts in a request, even on open routes. */
  identifySender: IdentifySender;
  /**
   * Returns the topics of all active features by name. Throws an Error until all features have been created, and so do
   * `listUnavailable` and `findConcerns`.
   */
  topics: () => ReadonlyMap<string, Topic>;
  /** Resolves to the names of active features that currently cannot store changes. */
  listUnavailable: () => Promise<string[]>;
  /** Resolves to the concerns of all active features, stores and logs, in no particular order. */
  findConcerns: () => Promise<Concern[]>;
  /** Registry of meters for /metrics. */
  meters: Meters;
  clock: () => Date;
  /** Absolute paths at which PowerShell may be installed. The first existing path is used. */
  powerShellPaths: readonly string[];
  host: HostReadings;
  log: FastifyBaseLogger;
  tokens: Tokens;
  /** Accepted keys. */
  keys: AccessKeys;
  secrets: RandomSecrets;
  /**
   * Returns 32-byte keys for one purpose. They are derived from the current and previous `jwtSecret`, so that instances
   * share them. The first key signs. Signatures made with any of the keys are valid. Empty if `jwtSecret` is not set.
   */
  deriveSecrets: (purpose: string) => readonly Buffer[];
  /** Base path of the first mount with one of the feature's profiles. Undefined without a mount. */
  base: string | undefined;
  /**
   * Sources that the active features offer. Reading the source of a feature that has not been created yet throws an
   * Error.
   */
  offers: Offers;
  /** Records of the feature in the seed file, by key. They have been validated against the schemas in `seed`. */
  records: Record<string, unknown[]>;
}

export interface Profile {
  name: string;
  /**
   * Other names for the profile in settings, such as a letter. An alias shared by several profiles selects all of them.
   */
  aliases?: readonly string[];
  /** Base paths at which the profile is mounted by default. Empty if only settings can mount it. */
  mounts?: readonly string[];
  /** Single line for the start message and the documentation. */
  summary: string;
  /** True to serve only the profile's own routes. Other methods on their paths, even HEAD and `GET /`, return 404. */
  strict?: boolean;
  /**
   * Access that the setting `access` cannot change. `closed` always requires a token. `open` never does, and is for the
   * route that issues tokens.
   */
  fixedAccess?: 'closed' | 'open';
}

/** Console screen that somebody must open, for example for the first login. */
export interface Invitation {
  /** Purpose of the screen, for the message. */
  text: string;
  /** Profile that the screen requires. */
  profile: string;
  /** URL fragment, including the `#`. */
  fragment: string;
}

export interface FeatureInstance<Settings = Record<string, unknown>> {
  /** Routes by profile name. */
  profiles: Record<string, Route[]>;
  /** Pages that `GET /` redirects to. If `missing` is set, the pages return 404 with that reason. */
  pages?: ProgramPages & { read: ReadFile; missing: string | undefined };
  /** Source that the feature offers to other features under its own name. */
  offers?: Offers;
  /** Topics for /api/events, by name. */
  topics?: Record<string, Topic>;
  /** Messages printed on startup, for example about random passwords and open routes. */
  notices?: string[];
  /** Warning printed on startup and shown on every console screen. */
  warning?: string | undefined;
  /** Console screen that the start message links to. */
  invitation?: Invitation | undefined;
  /** Returns the current concerns, worst first. Called about once a second, so it must read only from memory. */
  findConcerns?(): Concern[];
  /** True if changes can currently be stored. Default: true. */
  isReady?(): Awaitable<boolean>;
  /** Starts background work. Called once the server listens. */
  start?(): void;
  /** Ends streaming responses. Called when shutdown begins. */
  stop?(): void;
  /** Applies settings that were reloaded on SIGHUP and have been validated. Returns messages to print. */
  reload?(settings: Settings): string[];
  /** Completes acknowledged work and releases files, timers and child processes. */
  close?(): Promise<void>;
}

/** Command of a feature on the command line: `signalbox NAME TEXT`. */
export interface Tool {
  name: string;
  /** Name of the only argument for `--help`, in capitals. `isQuoted` is set if the argument may contain spaces. */
  argument: { name: string; isQuoted?: true };
  summary: string;
  /**
   * Returns the output. The exit code is 0 if `ok` is true. `readSettings` reads the settings as startup does, and
   * throws a SettingsError if they are invalid.
   */
  run(text: string, readSettings: () => Record<string, unknown>): ToolResult | Promise<ToolResult>;
}

interface ToolResult {
  output: string;
  ok: boolean;
}

/** Export and import of a feature's store. Changes are written as lines, each with one key and a value. */
export interface Transfer<Change = unknown> extends PortableStore<Change> {
  /** Schemas of the values, by key. No other store uses these keys. */
  lines: Record<string, TSchema>;
  /** The same store without the readings of hosts, for a shorter export. Default: the whole store. */
  withoutReadings?: Transfer<Change>;
  /**
   * Creates a function that converts lines to changes. It is called for all lines in order, with valid values and the
   * numbers of earlier lines by key. It throws a SettingsError with a clause such as `settings.id occurs twice`.
   */
  createParser(): (key: string, value: unknown, counts: Readonly<Record<string, number>>) => Change;
}

/** Id of an exported record. */
export const RecordId = Type.String({
  pattern: uuidForm.source,
  description: 'A UUID in lower case',
});

/** Defines a transfer, typed by its changes. */
export const defineTransfer = <Change>(transfer: Transfer<Change>): Transfer => transfer as unknown as Transfer;

/** Feature: a folder in `features/`. Its one or more profiles share a store and have their own settings. */
export interface Feature<P extends TProperties = TProperties, Need extends keyof Offers = never> {
  name: string;
  /**
   * Features that are active whenever this feature is, even if none of their profiles is mounted. If two features need
   * each other, the first of both in the feature list can read the other's source only after both have been created.
   */
  needs?: readonly Need[];
  profiles: Profile[];
  /** Settings of the feature, with their defaults. The feature receives no other settings. */
  settings: P;
  /** Schemas of the feature's records in a seed file, by the keys of the records in the file. */
  seed?: Record<string, TSchema>;
  /**
   * Returns conflicts between settings that are valid by themselves, as clauses. Called before features are created.
   */
  findProblems?(settings: Static<TObject<P>>): string[];
  /** Lists the watches, heartbeats or hosts in valid settings, with their dependencies. */
  listThings?(settings: Static<TObject<P>>): Thing[];
  /** Lists the secret files that valid settings name, with their names for messages. */
  listSecretFiles?(settings: Static<TObject<P>>): { name: string; path: string }[];
  tools?: Tool[];
  /** Export and import of the store. */
  transfer?: Transfer;
  /** True if the profiles require a shared database. */
  needsDatabase?: boolean;
  /** True if the settings activate the feature even without a mounted profile. */
  isOn?(settings: Static<TObject<P>>): boolean;
  /**
   * Creates the feature. Called if one of its profiles is mounted, if `isOn` returns true, or if another feature needs
   * it. Throws a SettingsError if the settings are unusable.
   */
  create(
    parts: Parts & { settings: Static<TObject<P>>; offers: Offers & Required<Pick<Offers, Need>> },
  ): Created<P> | Promise<Created<P>>;
}

type Created<P extends TProperties> = FeatureInstance<Static<TObject<P>>>;

/** Defines a feature. Its settings are typed by their schema, and so are the sources of the features that it needs. */
export const defineFeature = <const P extends TProperties, const Need extends keyof Offers = never>(
  feature: Feature<P, Need>,
): Feature => feature as unknown as Feature;

/** Loads the seed. If the store is unavailable, logs the reason and continues without the seed. */
export const loadSeed = async (
  restore: () => Promise<void>,
  log: { warn(details: object, message: string): void },
): Promise<void> => {
  try {
    await restore();
  } catch (err) {
    if (!(err instanceof StoreUnavailable)) throw err;
    log.warn(
      { err },
      'the seed was not loaded, because the store cannot be used: restart the server later to load the seed',
    );
  }
};
