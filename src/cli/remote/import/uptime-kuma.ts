import { statSync } from 'node:fs';
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { parseJson } from '../../../lib/parse-json.ts';
import { explainSystemError } from '../../stdio.ts';
import { ImportError } from './documents.ts';
import { CheckPlan, type ConvertedCheck, comparisons, visibleLogin, type WatchDraft } from './planned-check.ts';

/** Row of the table `monitor`. In earlier versions, some columns are missing. */
type Monitor = Record<string, string | number | null>;

const mostMonitors = 10_000;

/** Plans watches and heartbeats for the monitors in the SQLite file of Uptime Kuma 1 or 2. */
export const planUptimeKuma = async (path: string): Promise<CheckPlan> => {
  const waiting = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (waiting > 0)
    throw new ImportError(`${path}-wal has changes that are not in kuma.db yet: stop Uptime Kuma, and try again`);
  const plan = new CheckPlan();
  for (const monitor of await readMonitors(path))
    plan.add(textOf(monitor, 'name') || 'monitor', () => convert(monitor));
  return plan;
};

/** Reads the monitors from a copy of the database. The original stays unchanged. */
const readMonitors = async (path: string): Promise<Monitor[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-import-'));
  try {
    const copy = join(folder, 'kuma.db');
    await copyFile(path, copy).catch((error: NodeJS.ErrnoException) => {
      throw new ImportError(explainSystemError(error));
    });
    await leaveWalMode(copy);
    const database = new sqlite.Database(copy, { readOnly: true });
    try {
      // A view could compute an endless list of monitors.
      const table = database.get("SELECT 1 FROM sqlite_master WHERE name = 'monitor' AND sql LIKE 'CREATE TABLE %'");
      if (!table) throw new ImportError('the database has no monitor table');
      const monitors = database.all('SELECT * FROM monitor ORDER BY id LIMIT ?', [mostMonitors + 1]) as Monitor[];
      if (monitors.length > mostMonitors) throw new ImportError('the database has more than 10,000 monitors');
      return monitors;
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`the monitors cannot be read: ${(error as Error).message}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Changes both format versions of the file from 2 to 1 (https://sqlite.org/fileformat2.html, 1.3). WebAssembly does not
 * support WAL.
 */
const leaveWalMode = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
    if (buffer.toString('latin1', 0, 15) !== 'SQLite format 3')
      throw new ImportError('the file is not an SQLite database');
    await file.write(Buffer.from([1, 1]), 0, 2, 18);
  } finally {
    await file.close();
  }
};

const textOf = (monitor: Monitor, column: string): string => String(monitor[column] ?? '');
const isOn = (monitor: Monitor, column: string): boolean => Number(monitor[column] ?? 0) === 1;

const convert = (monitor: Monitor): ConvertedCheck => {
  const type = textOf(monitor, 'type');
  if (isOn(monitor, 'upside_down')) return 'monitors with Upside Down Mode are not supported';
  if (type === 'push')
    return {
      heartbeat: { period: toSeconds(monitor) },
      isPaused: !isOn(monitor, 'active'),
      notes: ['gets a new address: change the URL that the job calls'],
    };
  const own = toOwn(type, monitor);
  if (typeof own === 'string') return own;
  const { notes, ...settings } = own;
  const common = {
    every: toSeconds(monitor),
    ...(!isOn(monitor, 'active') && { enabled: false }),
    ...(Number(monitor['maxretries']) > 0 && { retries: Math.min(10, Number(monitor['maxretries'])) }),
  };
  return { watch: { ...settings, ...common }, notes: [...(notes ?? []), ...listDropped(monitor)] };
};

/** Lists the settings that a watch does not have. By default, Uptime Kuma sets timeouts of 80 % of the interval. */
const listDropped = (monitor: Monitor): string[] => {
  const timeout = Number(monitor['timeout'] ?? 0);
  const usual = [0, 48, ...(textOf(monitor, 'type') === 'ping' ? [10] : [])];
  const isDefault = usual.includes(timeout) || Math.abs(timeout - toSeconds(monitor) * 0.8) < 1;
  const conditions = parseJson(textOf(monitor, 'conditions'));
  return [
    ...(isDefault ? [] : [`the timeout of ${timeout} seconds is not imported`]),
    ...(textOf(monitor, 'proxy_id') === '' ? [] : ['the proxy is not imported']),
    ...(Array.isArray(conditions) && conditions.length > 0 ? ['the conditions are not imported'] : []),
  ];
};

const toSeconds = (monitor: Monitor): number => Math.min(86_400, Math.max(10, Number(monitor['interval']) || 60));

/** Returns the settings for a monitor of this type, or the reason why the monitor cannot be imported. */
const toOwn = (type: string, monitor: Monitor): (WatchDraft & { notes?: string[] }) | string => {
  const host = textOf(monitor, 'hostname');
  switch (type) {
    case 'http':
    case 'keyword':
    case 'json-query':
      return toHttp(type, monitor);
    case 'port':
      return { type: 'tcp', host, port: Number(monitor['port']) };
    case 'ping':
      return { type: 'ping', host };
    case 'dns':
      return toDns(host, monitor);
    case 'docker':
      return {
        type: 'container',
        container: textOf(monitor, 'docker_container'),
        notes: ['is checked on this server'],
      };
    case 'postgres':
    case 'mysql':
    case 'redis':
      return toLogin(type, monitor);
    case 'group':
      return 'groups are not imported';
    default:
      return `monitors of type ${type} are not supported`;
  }
};

const toHttp = (type: string, monitor: Monitor): (WatchDraft & { notes?: string[] }) | string => {
  const url = textOf(monitor, 'url');
  const login = textOf(monitor, 'auth_method');
  if (login !== '' && login !== 'basic') return `logins of type ${login} are not supported`;
  const method = textOf(monitor, 'method') || 'GET';
  if (!['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'].includes(method)) return `method ${method} is not supported`;
  const notes = isOn(monitor, 'ignore_tls') ? ['certificate errors are not ignored: set ca for a private CA'] : [];
  const user = textOf(monitor, 'basic_auth_user');
  const headers = {
    ...(parseJson(textOf(monitor, 'headers') || '{}') as Record<string, string> | undefined),
    ...(login === 'basic' &&
      user !== '' && {
        Authorization: `Basic ${Buffer.from(`${user}:${textOf(monitor, 'basic_auth_pass')}`).toString('base64')}`,
      }),
  };
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) notes.push(visibleLogin);
  const status = parseJson(textOf(monitor, 'accepted_statuscodes_json') || '[]');
  const body = textOf(monitor, 'body');
  const keyword = textOf(monitor, 'keyword');
  const draft: WatchDraft = {
    type: 'http',
    url,
    ...(method !== 'GET' && { method: method as NonNullable<WatchDraft['method']> }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== '' && (method === 'POST' || method === 'PUT') && { body }),
    ...(Array.isArray(status) && status.length > 0 && { status: status.join(',') }),
    redirects: Math.min(10, Number(monitor['maxredirects'] ?? 10)),
    ...(isOn(monitor, 'expiry_notification') && url.startsWith('https:') && { certificateDays: 14 }),
    ...(type === 'keyword' &&
      keyword !== '' &&
      (isOn(monitor, 'invert_keyword') ? { lacks: keyword } : { contains: keyword })),
  };
  if (type !== 'json-query') return { ...draft, notes };
  const path = textOf(monitor, 'json_path').replace(/^\$\.?/, '');
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(path))
    return `the JSON query "${textOf(monitor, 'json_path')}" is not a plain path`;
  const operator = textOf(monitor, 'json_path_operator') || '==';
  const is = comparisons[operator];
  if (is === undefined) return `the comparison "${operator}" is not supported`;
  const value = toJsonValue(textOf(monitor, 'expected_value'));
  return { ...draft, json: [{ pointer: `/${path.replaceAll('.', '/')}`, is, value }], notes };
};

/**
 * Converts text to a JSON value. Uptime Kuma compares strings, so the text of a number or boolean equals that value.
 */
const toJsonValue = (text: string): string | number | boolean => {
  const value = parseJson(text);
  return typeof value === 'number' || typeof value === 'boolean' ? value : text;
};

const toDns = (host: string, monitor: Monitor): WatchDraft => {
  const [server = ''] = textOf(monitor, 'dns_resolve_server').split(',');
  const port = Number(monitor['port'] ?? 53);
  const address = server.includes(':') ? `[${server.trim()}]` : server.trim();
  return {
    type: 'dns',
    host,
    record: (textOf(monitor, 'dns_resolve_type') || 'A') as NonNullable<WatchDraft['record']>,
    ...(server !== '' && { server: port === 53 ? server.trim() : `${address}:${port}` }),
  };
};

const defaultPorts = { postgres: 5432, mysql: 3306, redis: 6379 };

const toLogin = (type: keyof typeof defaultPorts, monitor: Monitor): (WatchDraft & { notes?: string[] }) | string => {
  const text = textOf(monitor, 'database_connection_string');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '') return 'the connection string is not a URL';
  const database = url.pathname.slice(1);
  let [user, password] = [url.username, url.password];
  try {
    [user, password] = [decodeURIComponent(user), decodeURIComponent(password)];
  } catch {
    return 'the connection string is not a URL';
  }
  // Uptime Kuma keeps the separate password of MySQL in this column.
  if (type === 'mysql' && password === '') password = textOf(monitor, 'radius_password');
  if (!user && type !== 'redis') return 'the connection string has no user';
  return {
    type,
    host: url.hostname,
    port: Number(url.port) || defaultPorts[type],
    ...(user && { user }),
    ...(password && { password }),
    ...(database !== '' && type !== 'redis' && { database }),
    ...(url.protocol === 'rediss:' && { tls: true }),
    notes: type === 'redis' ? [] : ['logs in and runs a harmless query instead of the original query'],
  };
};
