import { ApiError } from '../api.ts';
import { text } from '../strings/index.ts';

/** Returns the reason why a change was refused. Lists all violated rules if the server names them. */
export const explainRefusal = (error: unknown): string => {
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 409) return text.tasks.stillStoring;
  const { detail } = error.body;
  return Array.isArray(detail) ? detail.join('. ') : error.message;
};
