import { assertNoProblems } from '../../config/settings-error.ts';
import type { Feature, ProfileName } from '../../profiles/feature.ts';

/** A base path and the names of the profiles it serves. */
export interface Mount {
  base: string;
  profiles: string[];
}

/** What is served where nothing else is asked for: everything, on one port. */
const defaultMounts: Record<string, string[]> = {
  '/': ['monitoring', 'tasks', 'items', 'login', 'alerts', 'commands'],
  '/protected': ['protected-tasks', 'login'],
  '/simple': ['simple-tasks'],
};

const basePath = /^\/$|^(\/[A-Za-z0-9._~-]+)+$/;

interface Asked {
  profiles?: readonly string[] | undefined;
  mounts?: Record<string, string[]> | undefined;
}

/** The mounts that the settings ask for; throws a SettingsError that names every path or profile that is not one. */
export const resolveMounts = ({ profiles, mounts }: Asked, features: readonly Feature[]): Mount[] => {
  const known = features.flatMap((feature) => feature.profiles);
  const asked = profiles ? { '/': [...profiles] } : (mounts ?? withoutMissing(defaultMounts, known));
  const problems = Object.entries(asked).flatMap(([base, names]) => findProblems(base, names, known));
  if (Object.keys(asked).length === 0) problems.push('mounts is empty: nothing would be served');
  assertNoProblems(problems);
  return Object.entries(asked).map(([base, names]) => ({
    base,
    profiles: [...new Set(names.flatMap((name) => toProfileNames(name, known)))],
  }));
};

/** A feature that is left out of the program leaves the default mounts too. */
const withoutMissing = (mounts: Record<string, string[]>, known: ProfileName[]): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(mounts)
      .map(([base, names]) => [base, names.filter((name) => toProfileNames(name, known).length > 0)] as const)
      .filter(([, names]) => names.length > 0),
  );

const toProfileNames = (asked: string, known: ProfileName[]): string[] =>
  known.filter(({ name, alias }) => asked === name || asked === alias).map(({ name }) => name);

const findProblems = (base: string, names: string[], known: ProfileName[]): string[] => {
  const all = known.map(({ name, alias }) => (alias ? `${name} (${alias})` : name)).join(', ');
  const unknown = names.filter((name) => toProfileNames(name, known).length === 0);
  return [
    ...(basePath.test(base) ? [] : [`mount ${JSON.stringify(base)} must be / or a path like /tools`]),
    ...(base === '/docs' || base.startsWith('/docs/') ? [`mount ${base} is taken by the documents`] : []),
    ...unknown.map((name) => `there is no profile ${JSON.stringify(name)}; the profiles are ${all}`),
  ];
};
