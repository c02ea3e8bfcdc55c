import type { FuzzRequest } from './request.ts';

/** Whether an operation takes the alerts of other programs. */
export const isIntake = (path: string): boolean => /\/(?:api\/alert\/|api\/v2\/alerts$|v1\/logs$)/.test(path);

/** The body as a route for the alerts of other programs sees it: members that are null are absent at any depth. */
export const readForeign = ({ body = '' }: FuzzRequest): unknown => {
  try {
    return dropNulls(JSON.parse(utf8.decode(Buffer.from(body, 'latin1'))));
  } catch {
    return undefined;
  }
};

const dropNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, dropNulls(member)]));
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The body as a route sees it; undefined if it is not a JSON object. Null members are absent, and so are empty members
 * when a task is updated.
 */
export const readSent = ({ method, body = '' }: FuzzRequest): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(body, 'latin1')));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const dropsEmpty = method === 'PUT';
    return Object.fromEntries(
      Object.entries(value).filter(([, member]) => member !== null && !(dropsEmpty && member === '')),
    );
  } catch {
    return undefined;
  }
};
