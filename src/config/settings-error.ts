/** Error for unusable settings. Each problem is a clause that says what to change. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('; '), options);
    this.problems = problems;
  }
}

/** Compares by name, because each file of the bundle has a separate copy of this class. */
export const isSettingsError = (error: unknown): error is SettingsError =>
  error instanceof Error && error.name === 'SettingsError';

/** Throws a SettingsError if there are problems. */
export const assertNoProblems = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new SettingsError(problems);
};

/**
 * Returns the config file entry that a command names. If there is no such entry, throws a SettingsError that lists all
 * entries.
 */
export const requireConfigured = <T extends { name: string }>(
  configured: readonly T[],
  noun: string,
  name: string,
): T => {
  const found = configured.find((one) => one.name === name);
  if (found) return found;
  const known = configured.map((one) => one.name).join(', ') || 'none';
  throw new SettingsError([`there is no ${noun} ${JSON.stringify(name)}; the settings define: ${known}`]);
};

/** Returns the problems in the SettingsError that a check throws. Empty if the check passes. */
export const problemsOf = (check: () => unknown): readonly string[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems;
  }
};

/** Runs every check and returns their results. Throws one SettingsError with the problems of all failed checks. */
export const checkAll = <T extends object>(checks: { [K in keyof T]: () => T[K] }): T => {
  const results: Partial<T> = {};
  const problems: string[] = [];
  for (const name of Object.keys(checks) as (keyof T)[]) {
    problems.push(
      ...problemsOf(() => {
        results[name] = checks[name]();
      }),
    );
  }
  assertNoProblems(problems);
  return results as T;
};
