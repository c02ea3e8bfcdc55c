import { randomBytes } from 'node:crypto';
import type { ReplacedFile } from '../storage/replaced-file.ts';

const keyBytes = 32;

/**
 * Returns the signing key in a file, for a server without `jwtSecret`. The key is created and stored on first startup,
 * so that signed links survive restarts. If the key cannot be stored, it lasts until the server stops.
 */
export const readStoredSecret = async (file: ReplacedFile, onUnstored: (err: unknown) => void): Promise<Buffer> => {
  const stored = await file.read();
  if (stored?.length === keyBytes) return stored;
  const fresh = randomBytes(keyBytes);
  await file.write(fresh).catch(onUnstored);
  return fresh;
};
