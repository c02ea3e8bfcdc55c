import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpError } from './errors.ts';

/** Headers on every response while pages of all origins may use the service. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE',
} as const;

/** Lets web pages of every origin use the service; each OPTIONS request is answered 204. */
export const allowCrossOrigin = (app: FastifyInstance): void => {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(corsHeaders);
    if (request.method === 'OPTIONS') {
      return reply.header('Access-Control-Allow-Headers', 'Authorization, Content-Type').code(204).send();
    }
  });
};

/** Refuses what a browser sends for a page of another origin, so that no foreign page can act for its reader. */
export const refuseCrossOrigin = (app: FastifyInstance): void => {
  app.addHook('onRequest', async (request) => {
    if (isCrossOrigin(request)) {
      throw new HttpError(
        'forbidden',
        'Requests from web pages of other origins are refused; see the setting cors',
      );
    }
  });
};

const isCrossOrigin = ({ headers }: FastifyRequest): boolean => {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin } = headers;
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== normalHost(headers.host));
};

/** A Host header as a URL writes it: lower case, without the default port. */
const normalHost = (host = ''): string | undefined =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : undefined;
