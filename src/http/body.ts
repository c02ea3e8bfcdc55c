import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads every request body as one JSON object in UTF-8, whatever its Content-Type says: `curl -d` and PowerShell
 * label JSON as something else by default. A member that is null counts as absent. An empty body is undefined.
 */
export const acceptJsonBodies = (app: FastifyInstance): void => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async ({ raw }) => {
    raw.headers['content-type'] = 'application/json';
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    let text: string;
    try {
      text = utf8.decode(body as Buffer);
    } catch {
      return done(new HttpError('invalid', 'Request body is not valid UTF-8'));
    }
    parseJson(request, text, (error, value) => {
      if (error) return done(new HttpError('invalid', 'Request body is not valid JSON'));
      const object = toObject(value);
      done(object ? null : new HttpError('invalid', 'Request body must be a JSON object'), object);
    });
  });
};

/** The value without its null members; undefined when it is no object. */
const toObject = (value: unknown): Record<string, unknown> | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const body = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(body)) {
    if (member === null) delete body[name];
  }
  return body;
};
