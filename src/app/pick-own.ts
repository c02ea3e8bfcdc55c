/** The entries whose keys are in `shape`: how a feature receives its own settings and records, and no others. */
export const pickOwn = <T>(values: Record<string, T>, shape: object = {}): Record<string, T> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => Object.hasOwn(shape, key)));
