import { fileURLToPath } from 'node:url';
import type { LoadFigures, LoadRequest } from './load.ts';
import { idMark } from './wrk.ts';

const program = fileURLToPath(new URL('../../../node_modules/autocannon/autocannon.js', import.meta.url));
const connections = 64;

/** The part of autocannon's JSON that is used. */
interface Result {
  duration: number;
  requests: { total: number };
  latency: { p99: number };
  errors: number;
  non2xx: number;
}

interface Options extends LoadRequest {
  /** Ends after this many requests instead of after a time. */
  amount?: number;
  /** Requests that a connection sends before the first response. */
  pipelining?: number;
}

/** The command line for Node. */
export const createAutocannonArgs = ({
  url,
  method = 'GET',
  body,
  headers = {},
  seconds,
  amount,
  pipelining,
  ...options
}: Options): string[] => [
  ...[program, '--json', '--no-progress', '--method', method],
  ...['--connections', String(options.connections ?? connections), '--duration', String(seconds)],
  ...(amount === undefined ? [] : ['--amount', String(amount)]),
  ...(pipelining === undefined ? [] : ['--pipelining', String(pipelining)]),
  ...(body === undefined ? [] : ['--body', body, ...(body.includes(idMark) ? ['--idReplacement'] : [])]),
  ...Object.entries(headers).flatMap(([name, value]) => ['--headers', `${name}=${value}`]),
  url,
];

/** Parses autocannon's JSON; throws if a request failed or none was answered. */
export const parseAutocannonOutput = (output: string): LoadFigures => {
  const { duration, requests, latency, errors, non2xx }: Result = JSON.parse(output);
  if (errors + non2xx > 0) throw new Error(`${errors + non2xx} of ${requests.total} requests failed`);
  if (requests.total === 0) throw new Error('no response in time: try longer rounds with --seconds');
  return { answers: requests.total, perSecond: requests.total / duration, p99Ms: latency.p99 };
};
