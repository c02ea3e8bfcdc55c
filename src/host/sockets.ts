import { stat } from 'node:fs/promises';

/** Returns the first path of a Unix socket. */
export const findSocket = async (paths: readonly string[]): Promise<string | undefined> => {
  for (const path of paths) {
    const status = await stat(path).catch(() => undefined);
    if (status?.isSocket()) return path;
  }
  return undefined;
};
