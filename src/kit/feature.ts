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

/** What a concern can be about; of two that are equally bad, the one of the earlier area comes first. */
export const concernAreas = ['incidents', 'deliveries', 'stores', 'log', 'host'] as const;

/** Something that needs somebody's attention now. */
export interface Concern {
  area: (typeof concernAreas)[number];
  severity: Severity;
  /** One sentence for people. Everyone who may read the health sees it, so it has counts, not names from other screens. */
  text: string;
}

/** Texts that are made at random where the settings do not name any, by their names. */
export interface RandomSecrets {
  /** The file that keeps them, so they are the same after a restart; undefined if they last until the process ends. */
  file: string | undefined;
  /** The secret with this name; made of so many random bytes if it is new. Throws a SettingsError if it cannot be kept. */
  get(name: string, bytes: number): string;
}

/** What the app offers to features; each feature's `create` names the few parts it uses. */
export interface Parts {
  /** signalbox's own version. */
  version: string;
  /** Reads a file of the program: from its package's folder, or from the single executable. */
  readProgramFile: ReadFile;
  storage: Storage;
  /** The 401 or 403 for a caller without access, as the guard of a route has it. */
  authorize: Authorize;
  /** Who sends alerts with a request, also on an open route. */
  identifySender: IdentifySender;
  /** The topics of all mounted features by name. This and the next two throw an Error before all features are created. */
  topics: () => ReadonlyMap<string, Topic>;
  /** The names of the mounted features whose changes cannot be stored at the moment. */
  listUnavailable: () => Promise<string[]>;
  /** What needs attention now: the concerns of all mounted features, stores and logs, in no particular order. */
  findConcerns: () => Promise<Concern[]>;
  /** Where the feature counts what it does, for /metrics. */
  meters: Meters;
  clock: () => Date;
  /** Absolute paths where PowerShell may be; the first that exists is used. */
  powerShellPaths: readonly string[];
  host: HostReadings;
  log: FastifyBaseLogger;
  tokens: Tokens;
  /** The keys that are accepted. */
  keys: AccessKeys;
  secrets: RandomSecrets;
  /**
   * Keys of 32 bytes for one purpose, derived from `jwtSecret` and the previous one, which instances share; signatures of
   * any are valid, and the first one signs. Empty if `jwtSecret` is not set.
   */
  deriveKeys: (purpose: string) => readonly Buffer[];
  /** The base path of the first mount with a profile of the feature; undefined if none is mounted. */
  base: string | undefined;
  /** Sources of the active features. Reading the source of a feature that is still to be created throws an Error. */
  offers: Offers;
  /** The feature's own records from the seed file, by key; already validated against `seed`. */
  records: Record<string, unknown[]>;
}

export interface Profile {
  name: string;
  /** Other names that settings can use for it, such as a letter. Profiles that share one are chosen together. */
  aliases?: readonly string[];
  /** Base paths where the profile is mounted by default; none if the settings must name it. */
  mounts?: readonly string[];
  /** One line for the start message and the docs. */
  summary: string;
  /** Serves only its own routes: other methods on their paths, HEAD and `GET /` too, are unknown routes (404). */
  strict?: boolean;
  /** The setting `access` cannot open it, because its contract needs a token, or cannot close it, because it hands out tokens. */
  fixedAccess?: 'closed' | 'open';
}

/** A screen of the console that somebody has to open. */
export interface Invitation {
  /** What for. */
  text: string;
  /** The profile that it needs. */
  profile: string;
  /** Its place in the console, from the `#` on. */
  fragment: string;
}

export interface FeatureInstance<Settings = Record<string, unknown>> {
  /** The routes of each profile, by profile name. */
  profiles: Record<string, Route[]>;
  /** Pages; `GET /` redirects to them. If they are missing, they are 404 with this reason. */
  pages?: ProgramPages & { read: ReadFile; missing: string | undefined };
  /** The feature's source for other features, under its own name. */
  offers?: Offers;
  /** What /api/events offers of this feature, by name. */
  topics?: Record<string, Topic>;
  /** Messages printed once on startup, e.g. random passwords and open routes. */
  notices?: string[];
  /** A warning for everybody who uses the server, printed on startup and shown by the console on every screen. */
  warning?: string | undefined;
  /** What people are invited to open in the console on startup. */
  invitation?: Invitation | undefined;
  /** What needs somebody's attention now, the worst first. Called about once a second, so it reads only what is in memory. */
  findConcerns?(): Concern[];
  /** Whether changes can be stored at the moment; by default they can. */
  isReady?(): Awaitable<boolean>;
  /** Called when the server listens: begins what runs by itself. */
  start?(): void;
  /** Called when shutdown begins: ends responses that would go on. */
  stop?(): void;
  /** Applies settings that were read and checked again at runtime (SIGHUP); returns messages to print. */
  reload?(settings: Settings): string[];
  /** Completes acknowledged work and releases files, timers and child processes. */
  close?(): Promise<void>;
}

/** A command-line command that a feature adds: `signalbox NAME TEXT`. */
export interface Tool {
  name: string;
  /** The name of its one argument, in capitals, for `--help`; in quotes there if it has spaces. */
  argument: { name: string; isQuoted?: true };
  summary: string;
  /**
   * Returns what is printed; `ok` decides the exit code. `readSettings` reads the program's settings as a start does; it
   * throws a SettingsError.
   */
  run(text: string, readSettings: () => Record<string, unknown>): ToolResult | Promise<ToolResult>;
}

interface ToolResult {
  output: string;
  ok: boolean;
}

/** What `signalbox export` and `import` move of a feature's store: its changes, as lines with one key and a value. */
export interface Transfer<Change = unknown> extends PortableStore<Change> {
  /** Schemas of the values by their keys, which no other store has. */
  lines: Record<string, TSchema>;
  /**
   * Makes the function that turns all lines, in their order, into changes; the value is valid by its schema. It throws a
   * SettingsError with a clause such as `tasks.Id must be higher than those of the tasks before it`.
   */
  createParser(): (key: string, value: unknown) => Change;
}

/** The id of a record that is moved. */
export const RecordId = Type.String({
  pattern: uuidForm.source,
  description: 'A UUID in lower case',
});

/** Types a transfer by its changes. */
export const defineTransfer = <Change>(transfer: Transfer<Change>): Transfer => transfer as unknown as Transfer;

/** A folder of `features/`: one or more profiles that share a store, with their own settings. */
export interface Feature<P extends TProperties = TProperties, Need extends keyof Offers = never> {
  name: string;
  /**
   * Features that are active wherever this one is, also if none of their profiles is served. Features can need each other: then
   * the earlier one in the list of features reads the source of the later one only after both are created.
   */
  needs?: readonly Need[];
  profiles: Profile[];
  /** Own settings with their defaults; merged into the program's. The feature receives these and no others. */
  settings: P;
  /** Schemas of the feature's records in a seed file, by the file's key. */
  seed?: Record<string, TSchema>;
  /** Conflicts between own settings that are each valid, as clauses; called before anything is created. */
  findProblems?(settings: Static<TObject<P>>): string[];
  /** Files with secrets that the settings name, by what messages call them. Called with valid settings. */
  listSecretFiles?(settings: Static<TObject<P>>): { name: string; path: string }[];
  tools?: Tool[];
  /** What is moved from store to store. */
  transfer?: Transfer;
  /** Its profiles exist only where instances share a database. */
  needsDatabase?: boolean;
  /** Whether the settings turn the feature on, although none of its profiles is mounted. */
  isOn?(settings: Static<TObject<P>>): boolean;
  /** Called once, if a profile is served, the feature is on or another one needs it; throws a SettingsError for invalid settings. */
  create(
    parts: Parts & { settings: Static<TObject<P>>; offers: Offers & Required<Pick<Offers, Need>> },
  ): Created<P> | Promise<Created<P>>;
}

type Created<P extends TProperties> = FeatureInstance<Static<TObject<P>>>;

/** Types a feature's settings from its own schema, and the sources that it needs. */
export const defineFeature = <const P extends TProperties, const Need extends keyof Offers = never>(
  feature: Feature<P, Need>,
): Feature => feature as unknown as Feature;

/** Loads the seed; where the store cannot be used, the server starts without it, and `log` gets the reason. */
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
