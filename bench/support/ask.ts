import type { LoadRequest } from './load.ts';
import { password } from './signalbox.ts';

/** The body of one response; throws on an error status. */
export const ask = async ({
  url,
  method = 'GET',
  headers = {},
  body,
}: Omit<LoadRequest, 'seconds'>): Promise<string> => {
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${text.slice(0, 500)}`);
  return text;
};

/** A POST request with a value as JSON. */
export const createPost = (url: string, value: unknown): Omit<LoadRequest, 'seconds'> => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** Logs in as the administrator and returns the token. */
export const logIn = async (url: string): Promise<string> => {
  const body = { Username: 'admin', Password: password };
  const { token } = JSON.parse(await ask(createPost(`${url}/api/auth/login`, body)));
  return token;
};
