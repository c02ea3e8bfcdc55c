import { ApiError } from '../api.ts';
import { text } from '../strings/index.ts';

/** Why a form was not accepted; a conflict with what others have changed tells what to do. */
export const explain = (reason: unknown): string => {
  if (reason instanceof ApiError && reason.status === 412) return text.errors.conflict;
  return reason instanceof Error ? reason.message : String(reason);
};
