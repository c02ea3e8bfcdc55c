import Type, { type TProperties } from 'typebox';
import type { AccessLevel, AccessSetting } from '../auth/access.ts';

interface FormerSetting {
  /** The profile whose access it was, by its names; the first is the one to write. */
  names: readonly string[];
  /** What each value is called in `access`; the first is what to write, the others ask for no less. */
  values: Readonly<Record<string, readonly AccessLevel[]>>;
  /** The value that changes nothing. */
  contract: string;
}

const needsLogin = { values: { none: ['open'], bearer: ['login', 'admin'] }, contract: 'none' } as const;

/** Settings of earlier versions that `access` has replaced, which still work. */
const formerAccess: Readonly<Record<string, FormerSetting>> = {
  alertsAuth: { names: ['alerts', 'X'], ...needsLogin },
  historyAuth: { names: ['history'], ...needsLogin },
  metricsAuth: { names: ['metrics'], ...needsLogin },
  executeAuth: {
    names: ['commands', 'X'],
    values: { admin: ['login', 'admin'], none: ['open'] },
    contract: 'admin',
  },
};

/** The schemas of these settings. */
export const formerAccessSettings: TProperties = Object.fromEntries(
  Object.entries(formerAccess).map(([key, { names, values }]) => [
    key,
    Type.Enum(Object.keys(values), { deprecated: true, description: `Replaced by \`access\` of ${names[0]}.` }),
  ]),
);

/** A setting's valid value, and the name that it has where it was found. */
export interface Given {
  value: unknown;
  place: string;
}

/**
 * Adds what the former settings say to `access`. `warnings` has a line for each of them that is set; `problems` has one for
 * each that says something else than `access` does.
 */
export const mergeFormerAccess = (
  access: AccessSetting | undefined,
  findGiven: (key: string) => Given | undefined,
): { access: AccessSetting | undefined; warnings: string[]; problems: string[] } => {
  const warnings: string[] = [];
  const problems: string[] = [];
  let merged = access;
  for (const [key, setting] of Object.entries(formerAccess)) {
    const given = findGiven(key);
    if (!given) continue;
    const value = String(given.value);
    const wanted = setting.values[value] ?? [];
    const current = findLevel(access, setting);
    if (current !== undefined && !wanted.includes(current)) {
      problems.push(`${given.place} is replaced by access, which says something else: remove ${key}`);
    } else {
      warnings.push(`${given.place} is replaced by the setting access: ${toAdvice(setting, value, current)}`);
    }
    if (current === undefined && value !== setting.contract) {
      merged = { ...(typeof merged === 'object' ? merged : {}), [setting.names[0] ?? '']: wanted[0] ?? 'login' };
    }
  }
  return { access: merged, warnings, problems };
};

/** What `access` says of the profile; undefined if it does not name it. */
const findLevel = (access: AccessSetting | undefined, setting: FormerSetting): AccessLevel | undefined => {
  if (access === undefined) return undefined;
  if (access === 'login') return 'login';
  if (access === 'contract') return setting.values[setting.contract]?.[0];
  return setting.names.map((name) => access[name]).find((level) => level !== undefined);
};

const toAdvice = ({ names, values, contract }: FormerSetting, value: string, current?: AccessLevel): string => {
  if (current !== undefined || value === contract) return 'remove it';
  const level = values[value]?.[0];
  const entry = `"access": {"${names[0]}": "${level}"}`;
  return `write ${entry} in the config file${level === 'login' ? ', or set access to login for all profiles' : ''}`;
};
