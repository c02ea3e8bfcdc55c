import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, toMsText } from '../watch-type.ts';
import { toDaysFinding } from './certificate.ts';
import { toFault } from './failures.ts';
import { findJsonFault, findJsonProblem } from './json-conditions.ts';
import { requestUrl } from './network.ts';
import { PhaseClock } from './phases.ts';
import { findTrustProblem, readTrust, trustSettings } from './trust.ts';

const statusRanges = /^[1-5]\d\d(-[1-5]\d\d)?(,[1-5]\d\d(-[1-5]\d\d)?)*$/;

/** True if a status is in ranges such as `200-299,401`. */
const isExpected = (status: number, ranges: string): boolean =>
  ranges.split(',').some((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return status >= first && status <= last;
  });

/** Headers set by the connection itself. */
const reservedHeaders = [
  'connection',
  'content-length',
  'host',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
];

/** Checks the status, body and response time of a URL, and the remaining validity of its certificate. */
export const httpWatch = defineWatchType({
  name: 'http',
  scope: () => 'network',
  keys: [
    'url',
    'method',
    'headers',
    'body',
    'redirects',
    'status',
    'contains',
    'lacks',
    'json',
    'certificateDays',
    ...trustSettings,
  ],
  defaultLevel: 'ERROR',
  required: ['url'],
  limit: 'optional',
  every: 60,
  findProblem: ({ url = '', status = '200', json = [], headers = {}, method, body, ...trusted }) => {
    if (body !== undefined && (method ?? 'GET') !== 'POST' && method !== 'PUT') return 'body needs method POST or PUT';
    const problem = findHeaderProblem(headers) ?? findJsonProblem(json);
    if (problem !== undefined) return problem;
    if (!statusRanges.test(status)) return 'status must list codes or ranges, such as 200-299,401';
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'url must be an http or https URL';
    if (parsed.username || parsed.password) return 'url must not have a user or password';
    return findTrustProblem(trusted);
  },
  check: async (watch, { reach, clock }, signal) => {
    const { url = '', status = '200-299', certificateDays, limit } = watch;
    const thing = toThing(watch);
    const phases = new PhaseClock();
    const access = { reach, clock: phases, ...(await readTrust(watch)) };
    const answer = await requestUrl(url, access, signal, watch).catch(toFault);
    if (typeof answer === 'string')
      return [{ thing, isBad: true, words: `${thing} fails: ${answer}`, seen: phases.see() }];
    const time = toMsText(answer.ms);
    const days: Finding[] =
      certificateDays !== undefined && answer.certificate
        ? [
            toDaysFinding(`${thing} certificate`, answer.certificate, clock(), {
              limit: certificateDays,
              isLowBad: true,
            }),
          ]
        : [];
    const fault = findFault(answer, status, watch);
    if (fault !== undefined)
      return [{ thing, isBad: true, words: `${thing} ${fault}`, seen: phases.see(answer.body) }, ...days];
    const common = { thing, words: `${thing} responded ${answer.status} after ${time}`, seen: phases.see() };
    if (limit === undefined) return [{ ...common, isBad: false, figure: Math.round(answer.ms) }, ...days];
    return [{ ...common, figure: answer.ms, toText: toMsText }, ...days];
  },
});

/** Returns the problem with headers, as a clause. */
const findHeaderProblem = (headers: Record<string, string>): string | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return `headers: ${JSON.stringify(name)} is not the name of a header`;
    if (reservedHeaders.includes(name.toLowerCase())) return `headers must not contain ${name}`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return `headers: the value of ${name} has forbidden characters`;
  }
  return undefined;
};

const findFault = (
  answer: { status: number; body: string },
  status: string,
  { contains, lacks, json = [] }: WatchSettings,
): string | undefined => {
  if (!isExpected(answer.status, status)) return `responded ${answer.status} (expected: ${status})`;
  if (contains !== undefined && !answer.body.includes(contains)) {
    return `responded ${answer.status} without ${JSON.stringify(contains)}`;
  }
  if (lacks !== undefined && answer.body.includes(lacks))
    return `responded ${answer.status} with ${JSON.stringify(lacks)}`;
  const fault = json.length > 0 ? findJsonFault(answer.body, json) : undefined;
  return fault && `responded ${answer.status}, but ${fault}`;
};

/** Returns the URL without its query. The query may contain secrets. */
const toThing = ({ url = '' }: WatchSettings): string => {
  const { origin, pathname } = new URL(url);
  return pathname === '/' ? origin : origin + pathname;
};
