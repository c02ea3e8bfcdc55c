import type { Flags } from '../../config/load.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { defineCommand } from '../command.ts';
import { say } from '../stdio.ts';
import { callServer, parseObject, type ServerReply, toServerUrl } from './server.ts';

/** Settings that determine the address of the server. */
const settings = ['host', 'port', 'tlsCert', 'allowedHosts'];

const limitMs = 5000;

export const healthcheckCommand = defineCommand({
  name: 'healthcheck',
  summary: 'Check that the server on this machine or in this container is healthy; needs no curl.',
  details: [
    'The server is healthy if /readyz (or /livez, if /readyz is not served) returns 200 within 5 seconds. Certificates are not checked.',
    'Prints nothing if the server is healthy.',
  ],
  flags: { url: { value: 'URL', summary: 'URL of the server to check. Default: the server in the settings.' } },
  settings,
  exitCodes: {
    0: 'the server is healthy',
    1: 'the server is not healthy or not found; one line on stderr gives the reason',
    2: 'the command line is invalid',
  },
  run: async ({ own, flags }) => {
    const problem = await findHealthProblem(
      own.url === undefined ? await findOwnServer(flags) : { url: toServerUrl(own.url, '--url'), headers: {} },
    );
    if (problem === undefined) return 0;
    say(`not healthy: ${problem}`);
    return 1;
  },
});

interface CheckedServer {
  url: URL;
  headers: { host?: string };
}

/** Finds the server described by the settings. Throws a SettingsError if the settings are invalid. */
const findOwnServer = async (flags: Flags): Promise<CheckedServer> => {
  const [{ loadSomeSettings }, { createSettingsSchema }] = await Promise.all([
    import('../../config/load.ts'),
    import('../../config/schema.ts'),
  ]);
  const { host, port, tlsCert, allowedHosts } = loadSomeSettings(createSettingsSchema([]), settings, flags);
  if (port === 0)
    throw new SettingsError(["port is 0, so the actual port is unknown: pass the server's URL with --url"]);
  const [name] = allowedHosts;
  return {
    url: toServerUrl(`${tlsCert === undefined ? 'http' : 'https'}://${toUrlHost(host)}:${port}`, 'host'),
    // A server bound beyond loopback may accept only these names.
    headers: name === undefined ? {} : { host: name },
  };
};

/** Converts a listening address to the address to connect to, in URL form. */
const toUrlHost = (host: string): string => {
  if (/^(0+\.?)+$/.test(host)) return '127.0.0.1';
  if (!host.includes(':')) return host;
  return /^[0:]+$/.test(host) ? '[::1]' : `[${host}]`;
};

/** Returns the reason why the server is unhealthy, as a clause. Undefined if it is healthy. */
const findHealthProblem = async ({ url, headers }: CheckedServer): Promise<string | undefined> => {
  const deadline = performance.now() + limitMs;
  const get = (path: string): Promise<ServerReply> => {
    const timeoutMs = Math.max(deadline - performance.now(), 1);
    return callServer({ url, key: undefined }, path, { headers, timeoutMs, rejectUnauthorized: false });
  };
  let path = 'readyz';
  let reply = await get(path);
  if (reply.status === 404) {
    const document = await get('openapi.json');
    path = findHealthPath(document) ?? path;
    reply = document.status === 0 ? document : await get(path);
  }
  if (reply.status === 0) return reply.reason;
  if (reply.status !== 200) return `${new URL(path, url)} responded ${reply.status}`;
  return isHealth(parseObject(reply.text)) ? undefined : `${url.origin} is not a signalbox server`;
};

/** Returns the path of a health check on any mount, or of the OpenAPI document if no health check is mounted. */
const findHealthPath = ({ status, text }: ServerReply): string | undefined => {
  if (status !== 200) return undefined;
  const paths = Object.keys(Object(parseObject(text)['paths']));
  const found = ['/readyz', '/livez'].flatMap((name) => paths.filter((path) => path.endsWith(name)));
  return (found[0] ?? '/openapi.json').slice(1);
};

/** True for the response of a health check, and for the OpenAPI document. */
const isHealth = ({ status, openapi }: Record<string, unknown>): boolean =>
  status === 'ready' || status === 'healthy' || typeof openapi === 'string';
