import { HttpError } from '../../../../http/errors.ts';
import { type KeeperParts, MergedSettings } from '../../../../kit/compiled-settings.ts';
import type { RuntimeSetting, SettingStore } from '../../../../kit/offers.ts';
import { StoreUnavailable } from '../../../../lib/expected-errors.ts';
import { createSchemaCheck } from '../../../../lib/schema-validation.ts';
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

type ConfiguredFormat = IntakeSettings['intake'][number];

/** A custom format, and who has made it if the config file has not. */
export interface KnownFormat {
  name: string;
  definition: FormatDefinition;
  format: Format;
  made: RuntimeSetting<FormatDefinition> | undefined;
}

/** All custom formats: those of the config file, and those that people have made. */
export class FormatKeeper extends MergedSettings<FormatDefinition, KnownFormat> {
  constructor({ configured, ...parts }: KeeperParts<ConfiguredFormat>) {
    const names = { kind: intakeKind, noun: 'Format', path: '/api/intake-formats', most: mostFormats };
    super({ ...parts, ...names, compile, configured: configured.map(toConfigured) });
  }

  configure(configured: readonly ConfiguredFormat[]): void {
    this.setConfigured(configured.map(toConfigured));
  }

  /** @throws HttpError if there is none, StoreUnavailable if that is not known yet */
  override require(name: string): KnownFormat {
    const isUnknown = this.settings?.isRead() === false && !this.find(name);
    // A sender that gets a 404 may give up.
    if (isUnknown) throw new StoreUnavailable('The formats are not known yet');
    return super.require(name);
  }

  /** Creates or replaces one; resolves to it. Rejects with an HttpError. */
  async put(
    name: string,
    definition: FormatDefinition,
    by: string,
    expected?: readonly number[],
  ): Promise<KnownFormat> {
    const settings = this.requireSettings(name);
    tryFormat(name, definition);
    return compile(await settings.put(intakeKind, name, definition, by, expected, this.limits));
  }

  protected override requireSettings(name: string): SettingStore {
    const settings = super.requireSettings(name);
    if (isTaken(name)) throw new HttpError('wrong-state', `signalbox has a format ${name}: choose another name`);
    return settings;
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

const toConfigured = ({ name, ...definition }: ConfiguredFormat): KnownFormat => ({
  name,
  definition,
  made: undefined,
  format: compileFormat(name, definition),
});

const isDefinition = createSchemaCheck(FormatDefinition);

/** Throws an Error for one that another version has stored, and this one serves itself or cannot use. */
const compile = (made: RuntimeSetting<FormatDefinition>): KnownFormat => {
  const { name, value: definition } = made;
  if (isTaken(name)) throw new Error(`signalbox has a format ${name}`);
  if (!isDefinition(definition)) throw new Error('it is no definition of a format');
  return { name, definition, made, format: tryFormat(name, definition) };
};
