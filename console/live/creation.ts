import { ApiError } from '../api.ts';

/** Makes something new, and replaces nothing; throws an Error with the text `taken` where there is one. */
export const createNew = async (send: (options: { ifNoneMatch: '*' }) => Promise<unknown>, taken: string) => {
  try {
    await send({ ifNoneMatch: '*' });
  } catch (reason) {
    throw reason instanceof ApiError && reason.status === 412 ? new Error(taken) : reason;
  }
};
