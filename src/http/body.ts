import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpError } from './errors.ts';
import { createBusyError } from './shedding.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

type ParseJson = (
  request: FastifyRequest,
  text: string,
  done: (error: Error | null, value?: unknown) => void,
) => void;

/**
 * Reads every request body as one JSON object in UTF-8, whatever its Content-Type says: `curl -d` and PowerShell
 * label JSON as something else by default. A member that is null counts as absent. A body that is empty, or that the
 * route has no use for, is undefined.
 */
export const acceptJsonBodies = (app: FastifyInstance, isLagging: () => boolean): void => {
  const parseJson = app.getDefaultJsonParser('error', 'error') as ParseJson;
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.method !== 'GET') raw.headers['content-type'] = 'application/json';
    done();
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const isUnused = body.length === 0 || !request.routeOptions.schema?.body;
    // Bodies that were let in together arrive together, and reading one as JSON is most of the work that it makes.
    if (isLagging()) return done(null, createBusyError());
    done(null, isUnused ? undefined : readObject(parseJson, request, body as Buffer));
  });
  // Thrown by the parser, it would end the connection, though the body has been read to its end.
  app.addHook('preValidation', ({ body }, _reply, done) => {
    done(body instanceof HttpError ? body : undefined);
  });
};

/** The body as an object without its null members, or what is wrong with it. */
const readObject = (
  parseJson: ParseJson,
  request: FastifyRequest,
  body: Buffer,
): Record<string, unknown> | HttpError => {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return new HttpError('invalid', 'Request body is not valid UTF-8');
  }
  let result: Record<string, unknown> | HttpError | undefined;
  parseJson(request, text, (error, value) => {
    result = error ? new HttpError('invalid', 'Request body is not valid JSON') : toObject(value);
  });
  return result ?? new HttpError('invalid', 'Request body must be a JSON object');
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
