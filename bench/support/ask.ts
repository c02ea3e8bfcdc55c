import { type Agent, request } from 'node:http';
import type { LoadRequest } from './load.ts';

/** The administrator's password on every server here. */
export const password = 'a password for measurements';

export interface Answer {
  status: number;
  text: string;
  /** From the first byte sent to the last one received. */
  ms: number;
}

type Options = Pick<LoadRequest, 'method' | 'headers' | 'body'> & { agent?: Agent };

/** The complete response; undefined if the connection ended early. */
export const send = (url: string, { body, ...options }: Options = {}): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const start = performance.now();
    const sent = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('close', () => {
        const { statusCode = 0, complete } = response;
        resolve(complete ? { status: statusCode, text, ms: performance.now() - start } : undefined);
      });
    });
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });

/** The body of one response; throws unless it is as the request expects. */
export const ask = async ({
  url,
  numbers,
  body,
  isRefused = false,
  connections: _,
  ...options
}: LoadRequest): Promise<string> => {
  const address = numbers === undefined ? url : url.replaceAll('[<number>]', String(numbers));
  const sent = body?.replaceAll('[<id>]', () => `asked.${performance.now()}`);
  const answer = await send(address, { ...options, ...(sent !== undefined && { body: sent }) });
  if (answer && (isRefused === 'some' || answer.status >= 400 === isRefused)) return answer.text;
  throw new Error(`${options.method ?? 'GET'} ${address} answered ${answer?.status}: ${answer?.text.slice(0, 500)}`);
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
