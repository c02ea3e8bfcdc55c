import type { FuzzRequest } from './request.ts';

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
