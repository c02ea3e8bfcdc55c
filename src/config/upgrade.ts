import Type, { type TProperties, type TSchema } from 'typebox';
import type { AccessLevel, AccessSetting } from '../auth/access.ts';
import { toFlagName, toVariableName } from './names.ts';
import { formerNames } from './schema.ts';

/** Current values of settings, by the values that they had in 1.1.0. The former values still work. */
const formerValues: Readonly<Record<string, Readonly<Record<string, string>>>> = { access: { contract: 'open' } };

interface ReplacedSetting {
  /** Former names of the setting. New text should use the first. */
  names: readonly string[];
  /**
   * Levels of `access` that correspond to each value of the setting. New text should use the first level. The others
   * are at least as strict.
   */
  values: Readonly<Record<string, readonly AccessLevel[]>>;
  /** Value that keeps the default access of the routes. */
  usual: string;
}

const needsLogin = { values: { none: ['open'], bearer: ['login', 'admin'] }, usual: 'none' } as const;

/** Settings of 1.0.0 that were replaced by `access` but still work. */
const replacedByAccess: Readonly<Record<string, ReplacedSetting>> = {
  alertsAuth: { names: ['alerts', 'X'], ...needsLogin },
  historyAuth: { names: ['history'], ...needsLogin },
  metricsAuth: { names: ['metrics'], ...needsLogin },
  executeAuth: {
    names: ['commands', 'X'],
    values: { admin: ['login', 'admin'], none: ['open'] },
    usual: 'admin',
  },
};

/**
 * Adds the schemas of settings under their former names, and the schemas of the settings that `access` has replaced.
 */
export const toFormerProperties = (properties: TProperties): TProperties => ({
  ...Object.fromEntries(
    Object.entries(formerNames).map(([former, current]) => [
      former,
      { ...properties[current], deprecated: true, description: `Former name of \`${current}\`.` } as TSchema,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(replacedByAccess).map(([key, { names, values }]) => [
      key,
      Type.Enum(Object.keys(values), { deprecated: true, description: `Replaced by \`access\` of ${names[0]}.` }),
    ]),
  ),
});

/** Sources of settings. `path` is the path of the config file, or undefined without a file. */
export interface Sources {
  /** By key in camelCase. A flag without a value is `true`. */
  flags: Record<string, string | boolean | undefined>;
  environment: NodeJS.ProcessEnv;
  file: Record<string, unknown>;
  path: string | undefined;
}

/** Problems that were found while reading settings and that prevent startup, and warnings for the log. */
export interface Findings {
  problems: string[];
  warnings: string[];
}

/**
 * Replaces former names and values with current ones, with a warning for each. A source that uses both names of a
 * setting has a problem.
 */
export const useCurrentNames = ({ flags, environment, file, path }: Sources, findings?: Findings): Sources => {
  const rename = <T extends Record<string, unknown>>(
    values: T,
    toName: (key: string) => string,
    show = (name: string) => name,
    where = '',
  ): T => {
    let renamed = values;
    for (const [former, current] of Object.entries(formerNames)) {
      const [from, to] = [toName(former), toName(current)];
      const { [from]: value, ...others } = renamed;
      if (value === undefined || value === '') continue;
      if (renamed[to] === undefined) {
        renamed = { ...others, [to]: value } as T;
        findings?.warnings.push(`${show(from)}${where} is now called ${show(to)}: use the new name`);
      } else {
        renamed = others as T;
        findings?.problems.push(
          `${show(from)}${where} is the former name of ${show(to)}, which is also set: remove ${show(from)}`,
        );
      }
    }
    for (const [key, currentValues] of Object.entries(formerValues)) {
      const name = toName(key);
      const former = String(renamed[name]);
      if (!Object.hasOwn(currentValues, former)) continue;
      renamed = { ...renamed, [name]: currentValues[former] };
      findings?.warnings.push(
        `${show(name)}${where}: ${former} is now called ${currentValues[former]}: use the new value`,
      );
    }
    return renamed;
  };
  const toItself = (key: string) => key;
  return {
    flags: rename(flags, toItself, (key) => `--${toFlagName(key)}`),
    environment: rename(environment, toVariableName),
    file: rename(file, toItself, toItself, ` in ${path}`),
    path,
  };
};

/** Valid value of a setting, and the name of the setting in its source: a flag, a variable or a config file. */
export interface GivenSetting {
  value: unknown;
  place: string;
}

/** Merges replaced settings into `access`. Each causes a warning, or a problem if its value contradicts `access`. */
export const mergeReplacedAccess = (
  access: AccessSetting | undefined,
  findGiven: (key: string) => GivenSetting | undefined,
  { problems, warnings }: Findings,
): AccessSetting | undefined => {
  let merged = access;
  for (const [key, setting] of Object.entries(replacedByAccess)) {
    const given = findGiven(key);
    if (!given) continue;
    const value = String(given.value);
    const wanted = setting.values[value] ?? [];
    const current = findLevel(access, setting);
    if (current !== undefined && !wanted.includes(current)) {
      problems.push(`${given.place} contradicts the setting access, which replaces it: remove ${key}`);
    } else {
      warnings.push(`${given.place} is replaced by the setting access: ${toAdvice(setting, value, current)}`);
    }
    if (current === undefined && value !== setting.usual) {
      merged = { ...(typeof merged === 'object' ? merged : {}), [setting.names[0] ?? '']: wanted[0] ?? 'login' };
    }
  }
  return merged;
};

/** Returns the level of the profile in `access`. Undefined if `access` does not name the profile. */
const findLevel = (access: AccessSetting | undefined, setting: ReplacedSetting): AccessLevel | undefined => {
  if (access === undefined) return undefined;
  if (access === 'login') return 'login';
  if (access === 'open') return setting.values[setting.usual]?.[0];
  return setting.names.map((name) => access[name]).find((level) => level !== undefined);
};

const toAdvice = ({ names, values, usual }: ReplacedSetting, value: string, current?: AccessLevel): string => {
  if (current !== undefined || value === usual) return 'remove the old setting';
  const level = values[value]?.[0];
  const entry = `"access": {"${names[0]}": "${level}"}`;
  return `write ${entry} in the config file${level === 'login' ? ', or set access to login for all profiles' : ''}`;
};
