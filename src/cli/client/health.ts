import { type Flags, loadSomeSettings } from '../../config/load.ts';
import { createSettingsSchema } from '../../config/schema.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { exchange, explainFailure, parse, type Reply } from './exchange.ts';
import { toServerUrl } from './server.ts';

interface Target {
  url: URL;
  /** The name in `Host`, if it is not that of the URL. */
  host?: string;
}

const limitMs = 5000;

/** The server that the settings, of which only those named are read, describe; or the one at `url`. Throws a SettingsError. */
export const findOwnServer = (keys: readonly string[], flags: Flags, url: string | undefined): Target => {
  if (url !== undefined) return { url: toServerUrl(url, '--url') };
  const { host, port, tlsCert, allowedHosts } = loadSomeSettings(createSettingsSchema([]), keys, flags);
  if (port === 0) throw new SettingsError(['port is 0, so the port is not known: name the server with --url']);
  const [name] = allowedHosts;
  return {
    url: toServerUrl(`${tlsCert === undefined ? 'http' : 'https'}://${toUrlHost(host)}:${port}`, 'host'),
    // A server that is bound beyond loopback may accept no other names.
    ...(name !== undefined && { host: name }),
  };
};

/** The address to connect to, as URLs write it, for one to listen on. */
const toUrlHost = (host: string): string => {
  if (/^(0+\.?)+$/.test(host)) return '127.0.0.1';
  if (!host.includes(':')) return host;
  return /^[0:]+$/.test(host) ? '[::1]' : `[${host}]`;
};

/** Why the server is not healthy, as a clause; undefined if it is. */
export const findHealthProblem = async (target: Target): Promise<string | undefined> => {
  const deadline = performance.now() + limitMs;
  const get = (path: string): Promise<Reply> => {
    const timeoutMs = Math.max(deadline - performance.now(), 1);
    const headers = target.host === undefined ? {} : { host: target.host };
    return exchange(new URL(path, target.url), { headers, timeoutMs, rejectUnauthorized: false });
  };
  try {
    let path = 'readyz';
    let reply = await get(path);
    if (reply.status === 404) {
      path = findHealthPath(await get('openapi.json')) ?? path;
      reply = await get(path);
    }
    const { status, text } = reply;
    if (status !== 200) return `${new URL(path, target.url)} responded ${status}`;
    return isHealth(parse(text)) ? undefined : `${target.url.origin} is not a signalbox server`;
  } catch (error) {
    return `${target.url.origin}: ${explainFailure(error)}`;
  }
};

/** The path of a health check that some mount has; if there is none, the document itself shows that the server works. */
const findHealthPath = ({ status, text }: Reply): string | undefined => {
  if (status !== 200) return undefined;
  const paths = Object.keys(Object(parse(text)['paths']));
  const found = ['/readyz', '/livez'].flatMap((name) => paths.filter((path) => path.endsWith(name)));
  return (found[0] ?? '/openapi.json').slice(1);
};

/** What the checks respond, or the OpenAPI document. */
const isHealth = ({ status, openapi }: Record<string, unknown>): boolean =>
  status === 'ready' || status === 'healthy' || typeof openapi === 'string';
