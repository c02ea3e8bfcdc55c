import { StoreUnavailable } from '../../../../expected-errors.ts';
import { HttpError } from '../../../../http/errors.ts';
import { createSchemaCheck } from '../../../../schema-validation.ts';
import { CompiledSettings } from '../../../compiled-settings.ts';
import type { MadeSetting, SettingStore } from '../../../offers.ts';
import type { Format } from '../format.ts';
import {
  assertFormatName,
  compileFormat,
  FormatDefinition,
  type IntakeSettings,
  isTaken,
  mostFormats,
} from './definition.ts';

/** As settings made at run time. */
const intakeKind = 'intake';

/** A custom format, and who has made it if the config file has not. */
export interface KnownFormat {
  name: string;
  definition: FormatDefinition;
  format: Format;
  made: MadeSetting<FormatDefinition> | undefined;
}

interface KeeperParts {
  /** Undefined where nothing can be made at run time. */
  settings: SettingStore | undefined;
  configured: IntakeSettings['intake'];
  /** Gets the error of one that cannot be used. */
  onUnusable(name: string, error: Error): void;
}

/** All custom formats: those of the config file, and those that people have made. */
export class FormatKeeper {
  readonly #parts: KeeperParts;
  #configured: readonly KnownFormat[];
  readonly #compiled: CompiledSettings<FormatDefinition, KnownFormat>;
  /** Those made at run time that are indexed; undefined where the config file has changed since. */
  #indexed: readonly KnownFormat[] | undefined;
  #byName = new Map<string, KnownFormat>();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#configured = parts.configured.map(toConfigured);
    this.#compiled = new CompiledSettings({ ...parts, kind: intakeKind, compile });
  }

  get isChangeable(): boolean {
    return this.#parts.settings !== undefined;
  }

  setConfigured(configured: IntakeSettings['intake']): void {
    this.#configured = configured.map(toConfigured);
    this.#indexed = undefined;
  }

  /** By name. */
  list(): KnownFormat[] {
    this.#index();
    return [...this.#byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  find(name: string): KnownFormat | undefined {
    this.#index();
    return this.#byName.get(name);
  }

  /** @throws HttpError if there is none, StoreUnavailable if that is not known yet */
  require(name: string): KnownFormat {
    const known = this.find(name);
    if (known) return known;
    // A sender that gets a 404 may give up.
    if (this.#parts.settings?.isRead() === false) throw new StoreUnavailable('The formats are not known yet');
    const shown = JSON.stringify(name.slice(0, 100));
    throw new HttpError('not-found', `There is no intake format ${shown}: GET /api/intake-formats lists all`);
  }

  /** Creates or replaces one; resolves to it. Rejects with an HttpError. */
  async put(
    name: string,
    definition: FormatDefinition,
    by: string,
    expected?: readonly number[],
  ): Promise<KnownFormat> {
    const settings = this.#requireSettings(name);
    tryFormat(name, definition);
    if (!this.find(name) && this.list().length >= mostFormats) {
      throw new HttpError('wrong-state', `There are ${mostFormats} formats: delete some first`);
    }
    return compile(await settings.put(intakeKind, name, definition, by, expected));
  }

  async delete(name: string, by: string, expected?: readonly number[]): Promise<boolean> {
    return this.#requireSettings(name).delete(intakeKind, name, by, expected);
  }

  #requireSettings(name: string): SettingStore {
    const { settings } = this.#parts;
    if (!settings) throw new StoreUnavailable('Settings are not mounted');
    if (isTaken(name)) throw new HttpError('wrong-state', `signalbox has a format ${name}: choose another name`);
    if (this.#configured.some((one) => one.name === name)) {
      throw new HttpError('wrong-state', `Format ${name} is in the config file: change it there`);
    }
    return settings;
  }

  #index(): void {
    const made = this.#compiled.list();
    if (made === this.#indexed) return;
    this.#indexed = made;
    // The config file comes last: it wins.
    this.#byName = new Map([...made, ...this.#configured].map((one) => [one.name, one]));
  }
}

/** The format that a request defines. Throws an HttpError. */
export const tryFormat = (name: string, definition: FormatDefinition): Format => {
  assertFormatName(name);
  try {
    return compileFormat(name, definition);
  } catch (error) {
    throw new HttpError('invalid', (error as Error).message);
  }
};

const toConfigured = ({ name, ...definition }: IntakeSettings['intake'][number]): KnownFormat => ({
  ...{ name, definition, made: undefined },
  format: compileFormat(name, definition),
});

const isDefinition = createSchemaCheck(FormatDefinition);

/** Throws an Error for one that another version has stored, and this one serves itself or cannot use. */
const compile = (made: MadeSetting<FormatDefinition>): KnownFormat => {
  const { name, value: definition } = made;
  if (isTaken(name)) throw new Error(`signalbox has a format ${name}`);
  if (!isDefinition(definition)) throw new Error('it is no definition of a format');
  return { name, definition, made, format: tryFormat(name, definition) };
};
