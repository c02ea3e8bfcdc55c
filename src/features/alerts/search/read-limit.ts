import type { HttpError } from '../../../http/errors.ts';
import { MiB } from '../../../lib/units.ts';
import { JournalError } from '../../../storage/journal/errors.ts';

/** Maximum number of bytes of the log read by one search or count. */
export const maxReadBytes = 64 * MiB;

/**
 * Creates a handler for `catch`. It throws the given response if too much of the log would have to be read. It rethrows
 * other errors.
 */
export const refuseLargeRead =
  (createRefusal: () => HttpError) =>
  (error: unknown): never => {
    throw error instanceof JournalError && error.code === 'window-too-large' ? createRefusal() : error;
  };
