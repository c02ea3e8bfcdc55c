import type { FastifyRequest } from 'fastify';
import { principalOf } from '../../../auth/guard.ts';
import { HttpError, requireKnown } from '../../../http/errors.ts';

/**
 * Returns the person in the path. `me` is the caller. Throws an HttpError for an unknown person, and for another person
 * if the caller is not an Admin. `things` names the person's data in the refusal.
 */
export const requireOwnPerson = (
  request: FastifyRequest,
  things: string,
  isKnown: (name: string, isRefused: boolean) => boolean,
): string => {
  const { person } = request.params as { person: string };
  const caller = principalOf(request);
  const name = person === 'me' ? caller.name : person;
  const isRefused = name !== caller.name && caller.role !== 'Admin';
  if (!isKnown(name, isRefused)) requireKnown(undefined, 'User', name, '/api/people');
  if (isRefused) throw new HttpError('forbidden', `Only Admins can see and change the ${things} of other people`);
  return name;
};
