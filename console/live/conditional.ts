import { useState } from 'preact/hooks';
import { ApiError } from '../api.ts';

/** Something whose changes the server counts; null for what only the config file can change. */
interface Versioned {
  version: number | null;
}

/** Something as the user has seen it first: what others change meanwhile is not overwritten. */
export const useSeen = <T>(present: T): T => useState(present)[0];

/** For a change of something as it was seen. */
export const toIfMatch = ({ version }: Versioned): { ifMatch?: string } =>
  version === null ? {} : { ifMatch: `"${version}"` };

/**
 * Replaces something as it was seen before. Without `before`, makes something new: throws an Error with the text `taken`
 * where there is one.
 */
export const putSeen = async (
  put: (options: { ifMatch?: string; ifNoneMatch?: '*' }) => Promise<unknown>,
  before: Versioned | undefined,
  taken: string,
): Promise<void> => {
  try {
    await put(before ? toIfMatch(before) : { ifNoneMatch: '*' });
  } catch (reason) {
    throw !before && reason instanceof ApiError && reason.status === 412 ? new Error(taken) : reason;
  }
};
