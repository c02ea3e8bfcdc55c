import { once } from 'node:events';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { LoadRequest } from './load.ts';

/** The administrator's password on every server here. */
export const password = 'a password for measurements';

type Options = Pick<LoadRequest, 'method' | 'headers' | 'body'> & { agent?: Agent };

/** The complete response, and the time from the first byte sent to the last one received; undefined without one. */
export const send = async (url: string, { body, ...options }: Options = {}) => {
  const start = performance.now();
  const sent = request(url, options)
    .on('error', () => undefined)
    .end(body);
  try {
    const [response]: IncomingMessage[] = await once(sent, 'response');
    const text = response ? await readText(response) : '';
    return { status: response?.statusCode ?? 0, text, ms: performance.now() - start };
  } catch {
    return undefined;
  }
};

/** The body of one response; throws unless it is as the request expects. */
export const ask = async (request: LoadRequest): Promise<string> => {
  const { method = 'GET', headers = {}, numbers, body, isRefused = false } = request;
  const url = request.url.replaceAll('[<number>]', String(numbers));
  const sent = body?.replaceAll('[<id>]', () => `asked.${performance.now()}`);
  const answer = await send(url, { method, headers, ...(sent !== undefined && { body: sent }) });
  if (answer && (isRefused === 'some' || answer.status >= 400 === isRefused)) return answer.text;
  throw new Error(`${method} ${url} answered ${answer?.status}: ${answer?.text.slice(0, 500)}`);
};

/** A POST request with a value as JSON. */
export const createPost = (url: string, value: unknown): LoadRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** Logs in as the administrator and returns the token. */
export const logIn = async (url: string): Promise<string> =>
  JSON.parse(await ask(createPost(`${url}/api/auth/login`, { Username: 'admin', Password: password }))).token;
