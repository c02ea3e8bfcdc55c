import { domainToASCII } from 'node:url';
import type { Reach } from '../../../kit/reach.ts';
import { toLocalDay } from '../../../lib/local-time.ts';
import { isObject, parseJson } from '../../../lib/parse-json.ts';
import { dayMs } from '../../../lib/units.ts';
import { defineWatchType, type Finding } from '../watch-type.ts';
import { toDaysText } from './certificate.ts';
import { requestUrl } from './network.ts';
import { PhaseClock } from './phases.ts';

/** IANA's list of the RDAP servers of top-level domains (RFC 9224). */
const registryUrl = 'https://data.iana.org/rdap/dns.json';

/** Milliseconds for which the list is cached. */
const registryMs = dayMs;
/** URLs of RDAP servers by top-level domain. */
type Registry = ReadonlyMap<string, string>;
let registry: { at: number; servers: Registry } | undefined;

/** Measures the days until the registration of a domain expires, as reported by its registry over RDAP (RFC 9082). */
export const domainWatch = defineWatchType({
  name: 'domain',
  scope: () => 'network',
  keys: ['domain', 'server'],
  required: ['domain'],
  limit: 'optional',
  defaultLimit: 30,
  isLowBad: () => true,
  every: 21_600,
  findProblem: ({ domain = '', server }) => {
    // The conversion to ASCII would drop what follows a question mark, and decode percent signs.
    if (!/^[^.\s/?#%\\]+(\.[^.\s/?#%\\]+)+\.?$/.test(domain) || domainToASCII(domain) === '')
      return 'domain must be a domain name such as shop.example';
    if (server === undefined) return undefined;
    const parsed = URL.canParse(server) ? new URL(server) : undefined;
    return parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password
      ? undefined
      : 'server must be the http or https URL of an RDAP server';
  },
  check: async ({ domain = '', server }, { reach, clock }, signal) => {
    const name = domainToASCII(domain).replace(/\.$/, '');
    const base = server ?? (await findServer(name, reach, signal));
    const url = new URL(`domain/${name}`, base.endsWith('/') ? base : `${base}/`);
    const { status, parsed } = await ask(url.href, reach, signal);
    if (status === 404) return [{ thing: domain, isBad: true, words: `${domain} is not registered` }];
    if (status !== 200) throw new Error(`${url.host} responded ${status}`);
    const end = readExpiry(parsed);
    if (end === undefined) throw new Error(`${url.host} does not report the expiry date of ${domain}`);
    return [toFinding(domain, end, clock())];
  },
});

/** Requests a document. Rejects with an Error whose message is the reason. */
const ask = async (url: string, reach: Reach, signal: AbortSignal): Promise<{ status: number; parsed: unknown }> => {
  const access = { reach, clock: new PhaseClock(), authorities: [] };
  const request = { headers: { accept: 'application/rdap+json, application/json' } };
  const { status, body } = await requestUrl(url, access, signal, request).catch((error: Error) => {
    throw new Error(`the request to ${new URL(url).host} failed: ${error.message}`);
  });
  return { status, parsed: parseJson(body) };
};

/** Finds the RDAP server of a domain's top-level domain. Rejects with an Error whose message is the reason. */
const findServer = async (name: string, reach: Reach, signal: AbortSignal): Promise<string> => {
  const now = performance.now();
  if (!registry || now - registry.at > registryMs) {
    const { status, parsed } = await ask(registryUrl, reach, signal);
    const servers = readRegistry(parsed);
    if (status !== 200 || servers.size === 0)
      throw new Error(`${registryUrl} responded ${status} without a list of servers`);
    registry = { at: now, servers };
  }
  const suffix = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const found = registry.servers.get(suffix);
  if (found === undefined)
    throw new Error(`the registry of .${suffix} has no RDAP server: set server to another RDAP server`);
  return found;
};

/** Reads IANA's list: `{"services": [[["de", "com"], ["https://rdap.example/"]]]}`. */
export const readRegistry = (parsed: unknown): Registry => {
  const servers = new Map<string, string>();
  const services = isObject(parsed) && Array.isArray(parsed['services']) ? parsed['services'] : [];
  for (const [names, urls] of services.filter(Array.isArray)) {
    const url = [urls]
      .flat()
      .find((each) => typeof each === 'string' && each.startsWith('https://') && URL.canParse(each));
    if (url !== undefined) for (const name of [names].flat()) servers.set(String(name).toLowerCase(), url);
  }
  return servers;
};

/** Returns the time of the event `expiration`, in Unix milliseconds. */
const readExpiry = (parsed: unknown): number | undefined => {
  const events: unknown[] = isObject(parsed) && Array.isArray(parsed['events']) ? parsed['events'] : [];
  const expiry = events.filter(isObject).find(({ eventAction: action }) => action === 'expiration');
  const at = Date.parse(String(expiry?.['eventDate']));
  return Number.isNaN(at) ? undefined : at;
};

const toFinding = (thing: string, end: number, now: Date): Finding => {
  const days = (end - now.getTime()) / dayMs;
  const date = toLocalDay(end);
  const words =
    days < 0 ? `${thing} expired on ${date}` : `${thing} is registered for ${toDaysText(days)}, until ${date}`;
  return { thing, figure: days, toText: toDaysText, words };
};
