import type { FastifyInstance } from 'fastify';
import { createBusyError } from '../admission/shedding.ts';
import { HttpError } from '../response/errors.ts';

/** The JSON parser takes one byte order mark away; the decoder would take another. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type ParseJson = (
  request: unknown,
  text: string,
  done: (error: Error | null, value?: unknown) => void,
) => void;

/** Makes the function that reads a body as an object without its null members, or says what is wrong with it. */
export const createBodyParser = (app: FastifyInstance): ((body: Buffer) => object | HttpError) => {
  const parseJson = app.getDefaultJsonParser('error', 'error') as unknown as ParseJson;
  return (body) => {
    let text: string;
    try {
      text = utf8.decode(body);
    } catch {
      return new HttpError('invalid', 'Request body is not valid UTF-8');
    }
    let result: object | undefined;
    parseJson(undefined, text, (error, value) => {
      result = error ? new HttpError('invalid', 'Request body is not valid JSON') : toObject(value);
    });
    return result ?? new HttpError('invalid', 'Request body must be a JSON object');
  };
};

/**
 * Reads every request body as one JSON object in UTF-8, whatever its Content-Type says: `curl -d` and PowerShell
 * label JSON as something else by default. A member that is null counts as absent. A body that is empty, or that the
 * route has no use for, is undefined.
 */
export const acceptJsonBodies = (
  app: FastifyInstance,
  isLagging: () => boolean,
  parseBody: (body: Buffer) => object | HttpError,
): void => {
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.method !== 'GET') raw.headers['content-type'] = 'application/json';
    done();
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const isUnused = body.length === 0 || !request.routeOptions.schema?.body;
    // Bodies that were let in together arrive together, and reading one as JSON is most of the work that it makes.
    if (isLagging()) return done(null, createBusyError());
    done(null, isUnused ? undefined : parseBody(body as Buffer));
  });
  // Thrown by the parser, it would end the connection, though the body has been read to its end.
  app.addHook('preValidation', ({ body }, _reply, done) => {
    done(body instanceof HttpError ? body : undefined);
  });
};

/** The value without its null members; undefined when it is no object. */
const toObject = (value: unknown): Record<string, unknown> | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const body = value as Record<string, unknown>;
  for (const name of Object.keys(body)) {
    if (body[name] === null) delete body[name];
  }
  return body;
};
