import type { FuzzRequest } from './request.ts';

/**
 * True for an operation that accepts alerts of other programs. A plain text is stored as an alert of signalbox itself.
 */
export const isIntake = (path: string): boolean =>
  /\/(?:api\/alert\/(?!plain-text)|api\/v2\/alerts$|v1\/logs$)/.test(path);

/** Returns the body as routes for alerts of other programs read it: null members count as absent at any depth. */
export const readForeign = ({ body = '' }: FuzzRequest): unknown => {
  try {
    return dropNulls(JSON.parse(utf8.decode(Buffer.from(body, 'latin1'))));
  } catch {
    return undefined;
  }
};

/** Removes null members from the value itself. The value may be nested deeper than function calls can be. */
const dropNulls = (value: unknown): unknown => {
  const left = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one !== 'object' || one === null) continue;
    for (const [name, member] of Object.entries(one)) {
      if (member !== null) left.push(member);
      else if (!Array.isArray(one)) Reflect.deleteProperty(one, name);
    }
  }
  return value;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the body as a route reads it. Undefined if the body is not a JSON object. Null members count as absent, and
 * so do empty members when a task is updated.
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
