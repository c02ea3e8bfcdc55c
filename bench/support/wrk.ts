import { randomUUID } from 'node:crypto';
import type { LoadFigures, LoadRequest } from './load.ts';

const connections = 64;

/** Where autocannon puts ids. */
export const idMark = '[<id>]';

/** What wrk prints at its end, by the script below: times in microseconds, failures of all kinds. */
interface Summary {
  requests: number;
  duration: number;
  p99: number;
  failed: number;
}

/** A Lua script for wrk: sets the request, and prints a line of JSON with the results. */
export const createScript = ({ method = 'GET', body, headers = {} }: LoadRequest): string =>
  [
    `wrk.method = ${quote(method)}`,
    ...(body === undefined ? [] : [`wrk.body = ${quote(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`),
    ...(body?.includes(idMark) ? createIds() : []),
    'done = function(summary, latency, requests)',
    '  local e = summary.errors',
    `  io.write(string.format('figures {"requests":%d,"duration":%d,"p99":%d,"failed":%d}\\n',`,
    '    summary.requests, summary.duration, latency:percentile(99.0),',
    '    e.connect + e.read + e.write + e.status + e.timeout))',
    'end\n',
  ].join('\n');

/** The script's lines that put an id into each body: one for the run, and a number. */
const createIds = (): string[] => [
  'local number = 0',
  'request = function()',
  '  number = number + 1',
  `  return wrk.format(nil, nil, nil, (wrk.body:gsub('%[<id>%]', '${randomUUID()}.' .. number)))`,
  'end',
];

export const createWrkArgs = (script: string, request: LoadRequest): string[] => [
  ...['--threads', '1', '--connections', String(request.connections ?? connections)],
  ...['--duration', `${request.seconds}s`, '--timeout', '30s', '--script', script, request.url],
];

/** Parses the script's line; throws if it is missing, or reports a failure or no response. */
export const parseWrkOutput = (output: string): LoadFigures => {
  const [, line] = /^figures (\{.*\})$/m.exec(output) ?? [];
  if (line === undefined) throw new Error(`wrk printed no figures:\n${output}`);
  const { requests, duration, p99, failed }: Summary = JSON.parse(line);
  if (failed > 0) throw new Error(`${failed} of ${requests} requests failed:\n${output}`);
  if (requests === 0) throw new Error('no response in time: try longer rounds with --seconds');
  return { answers: requests, perSecond: (requests / duration) * 1e6, p99Ms: p99 / 1000 };
};

/** A Lua string literal. */
const quote = (text: string): string =>
  `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
