import { parse } from 'yaml';
import { isObject } from '../../../lib/parse-json.ts';
import { ImportError } from './documents.ts';
import { CheckPlan, type ConvertedCheck, comparisons, visibleLogin, type WatchDraft } from './planned-check.ts';

type Endpoint = Record<string, unknown>;

/**
 * Plans watches for the endpoints of Gatus, and heartbeats for its external endpoints. Reads its configuration in YAML.
 */
export const planGatus = (text: string): CheckPlan => {
  const plan = new CheckPlan();
  const config = parseYaml(text);
  for (const endpoint of listOf(config['endpoints'])) plan.add(toTitle(endpoint), () => convert(endpoint));
  for (const endpoint of listOf(config['external-endpoints'])) {
    plan.add(toTitle(endpoint), () => convertExternal(endpoint));
  }
  return plan;
};

const convertExternal = ({ heartbeat }: Endpoint): ConvertedCheck => {
  const period = Math.round((isObject(heartbeat) && toSeconds(heartbeat['interval'])) || 0);
  if (period < 10) return 'heartbeat.interval of at least 10 seconds is missing';
  return { heartbeat: { period }, notes: ['gets a new address: change the URL that the job calls'] };
};

const parseYaml = (text: string): Record<string, unknown> => {
  let config: unknown;
  try {
    config = parse(text);
  } catch (error) {
    throw new ImportError(`the file is not valid YAML: ${(error as Error).message.split('\n', 1)[0]}`);
  }
  if (!isObject(config) || !(Array.isArray(config['endpoints']) || Array.isArray(config['external-endpoints'])))
    throw new ImportError('the file has no list "endpoints": pass the config file of Gatus');
  return config;
};

const listOf = (value: unknown): Endpoint[] => (Array.isArray(value) ? value.filter(isObject) : []);

const toTitle = ({ group, name }: Endpoint): string =>
  [group, name].filter((part) => typeof part === 'string' && part !== '').join('-') || 'endpoint';

const durations: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Parses a Go duration such as `1m30s` to seconds. */
const toSeconds = (value: unknown): number | undefined => {
  const text = String(value ?? '');
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
    seconds += Number(count) * (durations[unit] ?? 0);
  return seconds;
};

const convert = (original: Endpoint): ConvertedCheck => {
  const { alerts, ...used } = original;
  const text = JSON.stringify(used);
  if (/\$[{A-Za-z_]/.test(text.replaceAll('$$', ''))) return 'environment variables are not supported';
  // Gatus reads $$ as a dollar sign.
  const endpoint: Endpoint = { ...(JSON.parse(text.replaceAll('$$', () => '$')) as Endpoint), alerts };
  const own = toOwn(endpoint);
  if (typeof own === 'string') return own;
  const conditions = Array.isArray(endpoint['conditions']) ? endpoint['conditions'].map(String) : [];
  const notes = listNotes(endpoint);
  const found: WatchDraft = { ...own };
  for (const condition of conditions) {
    const problem = addCondition(found, condition);
    if (problem) notes.push(`condition ${condition} is not imported`);
  }
  const every = Math.min(86_400, Math.max(1, toSeconds(endpoint['interval']) ?? 60));
  const [alert] = listOf(endpoint['alerts']);
  const failures = Number(alert?.['failure-threshold'] ?? 3);
  const retries = Math.min(10, Math.max(0, failures - 1));
  const isPaused = endpoint['enabled'] === false;
  return {
    watch: { ...found, every, ...(retries > 0 && { retries }), ...(isPaused && { enabled: false }) },
    notes,
  };
};

/** Lists the settings that a watch does not have, and the header that becomes visible. */
const listNotes = ({ client, ui, headers }: Endpoint): string[] => {
  const { insecure = false, timeout } = isObject(client) ? client : {};
  const hasLogin = Object.keys(isObject(headers) ? headers : {}).some((name) => name.toLowerCase() === 'authorization');
  return [
    ...(hasLogin ? [visibleLogin] : []),
    ...(insecure === false ? [] : ['client.insecure is not imported']),
    ...([undefined, 10].includes(toSeconds(timeout)) ? [] : ['client.timeout is not imported']),
    ...(ui == null ? [] : ['ui is not imported']),
  ];
};

const toOwn = (endpoint: Endpoint): WatchDraft | string => {
  const url = String(endpoint['url'] ?? '');
  const { dns } = endpoint;
  if (isObject(dns)) {
    const record = String(dns['query-type'] ?? 'A') as NonNullable<WatchDraft['record']>;
    return { type: 'dns', host: String(dns['query-name'] ?? '').replace(/\.$/, ''), record, server: url };
  }
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/.exec(url) ?? [];
  const [, host = '', port = ''] = /^(\[[^\]]+\]|[^:/]+)(?::(\d+))?/.exec(rest) ?? [];
  switch (scheme) {
    case 'http':
    case 'https':
      return toHttp(endpoint, url);
    case 'tcp':
      return { type: 'tcp', host, port: Number(port) };
    case 'icmp':
      return { type: 'ping', host };
    case 'tls':
      return { type: 'certificate', host, port: Number(port) || 443 };
    default:
      return `no watch type exists for ${scheme === '' ? url : `${scheme}://`}`;
  }
};

const methods: unknown[] = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'];

const toHttp = ({ method = 'GET', headers, body, graphql, client }: Endpoint, url: string): WatchDraft | string => {
  if (!methods.includes(method)) return `method ${method} is not supported`;
  if (graphql === true) return 'GraphQL requests are not supported';
  const isStrict = isObject(client) && client['ignore-redirect'] === true;
  return {
    type: 'http',
    url,
    ...(method !== 'GET' && { method: method as NonNullable<WatchDraft['method']> }),
    ...(isObject(headers) && {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    }),
    ...(typeof body === 'string' && body !== '' && (method === 'POST' || method === 'PUT') && { body }),
    ...(isStrict && { redirects: 0 }),
  };
};

/** Adds a condition to a watch. Returns true if watches do not support the condition. */
const addCondition = (watch: WatchDraft, condition: string): boolean => {
  const [, left = '', is = '', right = ''] = /^(\S+)\s*(==|!=|<=|>=|<|>)\s*(.+)$/.exec(condition.trim()) ?? [];
  if (left === '[CONNECTED]') return right !== 'true';
  if (left === '[DNS_RCODE]') return right !== 'NOERROR';
  if (left === '[CERTIFICATE_EXPIRATION]') return addExpiry(watch, is, right);
  if (left === '[RESPONSE_TIME]' && is.startsWith('<') && Number(right) > 0) {
    watch.limit = Number(right);
    return false;
  }
  if (left === '[STATUS]' && watch.type === 'http') return addStatus(watch, is, right);
  if (left.startsWith('[BODY]') && watch.type === 'dns') return addRecord(watch, is, right);
  return watch.type !== 'http' || !left.startsWith('[BODY]') || addBody(watch, left.slice(6), is, right);
};

const addExpiry = (watch: WatchDraft, is: string, right: string): boolean => {
  const days = (toSeconds(right) ?? 0) / 86_400;
  if (!is.startsWith('>') || days <= 0) return true;
  if (watch.type === 'http') watch.certificateDays = days;
  else if (watch.type === 'certificate') watch.limit = days;
  else return true;
  return false;
};

const addStatus = (watch: WatchDraft, is: string, right: string): boolean => {
  const [, choices] = /^any\(([\d, ]+)\)$/.exec(right) ?? [];
  const status = Number(right);
  if (is === '==' && choices !== undefined) watch.status = choices.replaceAll(' ', '');
  else if (is === '==' && status >= 100) watch.status = String(status);
  else if (is === '<' && status > 200) watch.status = `200-${status - 1}`;
  else if (is === '<=' && status >= 200) watch.status = `200-${status}`;
  else return true;
  return false;
};

const addRecord = (watch: WatchDraft, is: string, right: string): boolean => {
  if (is !== '==' || /\w\(/.test(right)) return true;
  watch.expected = right;
  return false;
};

const addBody = (watch: WatchDraft, path: string, is: string, right: string): boolean => {
  const pattern = /^pat\(\*([^*]+)\*\)$/.exec(right)?.[1];
  if (path === '' && pattern !== undefined && (is === '==' || is === '!=')) {
    const key = is === '==' ? 'contains' : 'lacks';
    if (watch[key] !== undefined) return true;
    watch[key] = pattern;
    return false;
  }
  const comparison = comparisons[is];
  if (!/^(?:\.[\w-]+|\[\d+\])+$/.test(path) || /\w\(/.test(right) || comparison === undefined) return true;
  const pointer = path.replace(/[.[]/g, '/').replaceAll(']', '');
  const value = Number.isNaN(Number(right)) ? right : Number(right);
  const isFlag = right === 'true' || right === 'false';
  watch.json = [...(watch.json ?? []), { pointer, is: comparison, value: isFlag ? right === 'true' : value }];
  return false;
};
