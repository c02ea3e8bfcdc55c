import { useState } from 'preact/hooks';
import { ApiError } from '../api.ts';

/** Resource with a version. The version of a resource from the config file is null. */
interface Versioned {
  version: number | null;
}

/** Returns the value as the user first saw it, so that concurrent changes by others are not overwritten. */
export const useSeen = <T>(present: T): T => useState(present)[0];

/** Returns the `If-Match` header value for the version that the user saw. */
export const toIfMatch = ({ version }: Versioned): { ifMatch?: string } =>
  version === null ? {} : { ifMatch: `"${version}"` };

/**
 * Creates a resource, or replaces the version that the user saw. If the name of a new resource is taken, throws an
 * Error with the text `existsMessage`.
 */
export const putSeen = async (
  put: (options: { ifMatch?: string; ifNoneMatch?: '*' }) => Promise<unknown>,
  before: Versioned | undefined,
  existsMessage: string,
): Promise<void> => {
  try {
    await put(before ? toIfMatch(before) : { ifNoneMatch: '*' });
  } catch (reason) {
    throw !before && reason instanceof ApiError && reason.status === 412 ? new Error(existsMessage) : reason;
  }
};
