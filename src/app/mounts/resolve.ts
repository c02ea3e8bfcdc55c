import { assertNoProblems } from '../../config/settings-error.ts';
import type { Feature, Profile } from '../../profiles/feature.ts';

/** A base path and the names of the profiles it serves. */
export interface Mount {
  base: string;
  profiles: string[];
}

/** `/`, or segments of unreserved characters except `.` and `..`, and not below `/docs` or `/console`. */
export const basePath = /^(?!\/(?:docs|console)(\/|$))(\/|(\/(?!\.\.?(\/|$))[A-Za-z0-9._~-]+)+)$/;

interface Wanted {
  profiles?: readonly string[] | undefined;
  mounts?: Record<string, string[]> | undefined;
}

/**
 * The mounts from the settings, or the default mounts of every profile; throws a SettingsError that names every invalid
 * path and unknown profile.
 */
export const resolveMounts = ({ profiles, mounts }: Wanted, features: readonly Feature[]): Mount[] => {
  const known = features.flatMap((feature) => feature.profiles);
  const wanted = Object.entries(profiles ? { '/': [...profiles] } : (mounts ?? listDefaults(known)));
  const problems = wanted.flatMap(([base, names]) => findProblems(base, names, known));
  if (wanted.length === 0 && known.length > 0)
    problems.push('mounts is empty: add at least one base path with profiles');
  assertNoProblems(problems);
  return wanted.map(([base, names]) => ({
    base,
    profiles: [...new Set(names.flatMap((name) => toProfileNames(name, known)))],
  }));
};

const listDefaults = (known: readonly Profile[]): Record<string, string[]> => {
  const bases = new Set(known.flatMap(({ mounts = [] }) => mounts));
  const listNames = (base: string) => known.filter(({ mounts }) => mounts?.includes(base)).map(({ name }) => name);
  return Object.fromEntries([...bases].map((base) => [base, listNames(base)]));
};

type Named = Pick<Profile, 'name' | 'aliases'>;

/** Every name and letter that settings can use, each once. */
export const listNames = (known: readonly Named[]): string[] => [
  ...new Set(known.flatMap(({ name, aliases = [] }) => [name, ...aliases])),
];

/** Whether settings mean the profile by this name. */
export const isNamed = ({ name, aliases = [] }: Named, given: string): boolean =>
  given === name || aliases.includes(given);

const toProfileNames = (wanted: string, known: readonly Profile[]): string[] =>
  known.filter((profile) => isNamed(profile, wanted)).map(({ name }) => name);

const findProblems = (base: string, names: string[], known: readonly Profile[]): string[] => {
  const all = known.map(({ name, aliases }) => (aliases ? `${name} (${aliases.join(', ')})` : name)).join(', ');
  const unknown = names.filter((name) => toProfileNames(name, known).length === 0);
  return [
    ...(basePath.test(base) ? [] : [`mount ${JSON.stringify(base)} ${describeFault(base)}`]),
    ...unknown.map((name) => `there is no profile ${JSON.stringify(name)}; the profiles are ${all}`),
  ];
};

const describeFault = (base: string): string => {
  if (/^\/(?:docs|console)(\/|$)/.test(base)) return 'is reserved for the built-in pages';
  if (/(^|\/)\.\.?(\/|$)/.test(base)) return 'must not have a segment . or .., which clients remove from paths';
  return 'must be / or a path like /tools';
};
