import type { FuzzRequest } from './request.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body as a route sees it, undefined where it is no JSON object: members that are null are absent, and those that are empty where a task is changed. */
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
