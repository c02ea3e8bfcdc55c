import { access, constants } from 'node:fs/promises';

/** The first of the absolute paths that can be executed, or null. */
export const findProgram = async (paths: readonly string[]): Promise<string | null> => {
  for (const path of paths) {
    if (await isAccessible(path, constants.X_OK)) return path;
  }
  return null;
};

/** True if the path exists, or allows what `mode` asks for. */
export const isAccessible = (path: string, mode = constants.F_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
