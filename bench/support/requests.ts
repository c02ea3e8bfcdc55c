import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { pin, requireProgram } from './machine.ts';

/** Password of the administrator on every server in the bench. */
export const password = 'a password for measurements';

/** Request that every connection repeats as soon as the response has arrived. */
export interface LoadRequest {
  /** URL in which each `[<number>]` in the path becomes a random integer from 1 to `numbers`. */
  url: string;
  numbers?: number;
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Body in which each `[<id>]` becomes a string that is unique to the request. */
  body?: string;
  headers?: Record<string, string>;
  /** Number of connections. Default: 64. */
  connections?: number;
  /** True if every response must be an error, such as 404. `some` if only some responses may be errors. */
  isRefused?: boolean | 'some';
}

type Sent = Pick<LoadRequest, 'method' | 'headers' | 'body'> & { agent?: Agent };

/**
 * Sends a request. Resolves to the complete response and the time from the first byte sent to the last byte received,
 * or to undefined without a response.
 */
export const send = async (url: string, { body, ...options }: Sent = {}) => {
  const start = performance.now();
  const sent = request(url, options)
    .on('error', () => undefined)
    .end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const text = await readText(response);
    return { status: response.statusCode ?? 0, text, ms: performance.now() - start };
  } catch {
    return undefined;
  }
};

/** Sends one request and returns the body of its response. Throws on an unexpected response. */
export const ask = async (request: LoadRequest): Promise<string> => {
  const { method = 'GET', headers = {}, numbers, body, isRefused = false } = request;
  const url = request.url.replaceAll('[<number>]', String(numbers));
  const sent = body?.replaceAll('[<id>]', () => `asked.${performance.now()}`);
  const answer = await send(url, { method, headers, ...(sent !== undefined && { body: sent }) });
  if (answer && (isRefused === 'some' || answer.status >= 400 === isRefused)) return answer.text;
  throw new Error(`${method} ${url} answered ${answer?.status}: ${answer?.text.slice(0, 500)}`);
};

export const createPost = (url: string, value: unknown): LoadRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** Logs in as the administrator and returns the token. */
export const logIn = async (url: string): Promise<string> =>
  JSON.parse(await ask(createPost(`${url}/api/auth/login`, { Username: 'admin', Password: password }))).token;

/** Amount of work done, here the number of expected responses. */
export interface Done {
  count: number;
  perSecond: number;
}

const runFile = promisify(execFile);

/**
 * Creates load with wrk, because slower programs would measure their own speed. Scripts are written to `folder`.
 * Rejects if a request failed.
 */
export const createLoad = (folder: string) => {
  let scripts = 0;
  return async (request: LoadRequest, seconds: number): Promise<Done> => {
    const script = join(folder, `load-${++scripts}.lua`);
    writeFileSync(script, createScript(request));
    const options = ['--threads', '1', '--connections', String(request.connections ?? 64), '--timeout', '30s'];
    const command = [...options, '--duration', `${seconds}s`, '--script', script, request.url];
    const [program = '', ...args] = pin('load', [requireProgram('wrk'), ...command]);
    return parseWrk((await runFile(program, args)).stdout, request);
  };
};

/** Writes a Lua script for wrk that sets the request and prints the results as a line of JSON. */
export const createScript = ({ url, numbers, method = 'GET', body, headers = {} }: LoadRequest): string => {
  const { pathname, search } = new URL(url);
  const path = `(${toLuaString(decodeURI(`${pathname}${search}`))}):gsub('%[<number>%]', math.random(${numbers}))`;
  const next = `function() number = number + 1; return '${randomUUID()}.' .. number end`;
  const varied = `wrk.format(nil, nil, nil, (wrk.body:gsub('%[<id>%]', ${next})))`;
  return [
    `wrk.method = ${toLuaString(method)}`,
    ...(body === undefined ? [] : [`wrk.body = ${toLuaString(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${toLuaString(name)}] = ${toLuaString(value)}`),
    ...(numbers === undefined ? [] : [`request = function() return wrk.format(nil, (${path})) end`]),
    ...(body?.includes('[<id>]') ? ['local number = 0', `request = function() return ${varied} end`] : []),
    'done = function(summary, latency, requests)',
    '  local e = summary.errors',
    `  io.write(string.format('figures {"requests":%d,"duration":%d,"status":%d,"failed":%d}\\n',`,
    '    summary.requests, summary.duration, e.status, e.connect + e.read + e.write + e.timeout))',
    'end\n',
  ].join('\n');
};

const toLuaString = (text: string): string =>
  `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;

/** Parses the line that the script prints. Throws if the line is missing, or if it reports a failure or no response. */
export const parseWrk = (output: string, { isRefused = false }: Pick<LoadRequest, 'isRefused'>): Done => {
  const [, line] = /^figures (\{.*\})$/m.exec(output) ?? [];
  if (line === undefined) throw new Error(`wrk printed no figures:\n${output}`);
  const { requests, duration, status, failed } = JSON.parse(line);
  if (failed > 0) throw new Error(`${failed} of ${requests} requests failed`);
  if (requests === 0) throw new Error('no response in time: try longer rounds with --seconds');
  if (isRefused !== 'some' && status !== (isRefused ? requests : 0)) {
    throw new Error(`${status} of ${requests} responses are errors`);
  }
  const count = isRefused === true ? requests : requests - status;
  return { count, perSecond: (count / duration) * 1e6 };
};
