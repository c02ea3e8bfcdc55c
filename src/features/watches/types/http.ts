import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, toMsText } from '../watch-type.ts';
import { toDaysFinding } from './certificate.ts';
import { toFault } from './failures.ts';
import { findAuthorityProblem, readAuthorities, requestUrl } from './network.ts';

const statusRanges = /^[1-5]\d\d(-[1-5]\d\d)?(,[1-5]\d\d(-[1-5]\d\d)?)*$/;

/** True if a status is in ranges such as `200-299,401`. */
const isExpected = (status: number, ranges: string): boolean =>
  ranges.split(',').some((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return status >= first && status <= last;
  });

/** Checks status, body and response time of a URL, and the validity of its certificate. */
export const httpWatch = defineWatchType({
  name: 'http',
  scope: () => 'network',
  keys: ['url', 'status', 'contains', 'certificateDays', 'ca', 'caFile'],
  defaultLevel: 'ERROR',
  required: ['url'],
  limit: 'optional',
  every: 60,
  findProblem: ({ url = '', status = '200', ...trusted }) => {
    if (!statusRanges.test(status)) return 'status must be such as 200-299,401';
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'url must be an http or https URL';
    if (parsed.username || parsed.password) return 'url must not have a user or password';
    return findAuthorityProblem(trusted);
  },
  check: async (watch, { targets, clock }, signal) => {
    const { url = '', status = '200-299', contains, certificateDays, limit } = watch;
    const thing = toThing(watch);
    const answer = await requestUrl(url, { targets, authorities: await readAuthorities(watch) }, signal).catch(toFault);
    if (typeof answer === 'string') return [{ thing, isBad: true, words: `${thing} does not answer: ${answer}` }];
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
    const fault = findFault(answer, status, contains);
    if (fault !== undefined) return [{ thing, isBad: true, words: `${thing} ${fault}` }, ...days];
    const words = `${thing} answers ${answer.status} after ${time}`;
    if (limit === undefined) return [{ thing, isBad: false, figure: Math.round(answer.ms), words }, ...days];
    return [{ thing, figure: answer.ms, toText: toMsText, words }, ...days];
  },
});

const findFault = (
  answer: { status: number; body: string },
  status: string,
  contains: string | undefined,
): string | undefined => {
  if (!isExpected(answer.status, status)) return `answers ${answer.status} (wanted: ${status})`;
  if (contains === undefined || answer.body.includes(contains)) return undefined;
  return `answers ${answer.status} without ${JSON.stringify(contains)}`;
};

/** Returns the URL without its query, which may be secret. */
const toThing = ({ url = '' }: WatchSettings): string => {
  const { origin, pathname } = new URL(url);
  return pathname === '/' ? origin : origin + pathname;
};
