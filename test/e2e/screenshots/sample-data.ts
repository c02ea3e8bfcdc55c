import { setTimeout } from 'node:timers/promises';
import type { Request } from '../../support/client.ts';

/** Sample data for the screenshots, sent to a server's API. Hosts and people are invented. */

const tasks: [title: string, priority: string, status: string][] = [
  ['Renew the certificate of shop.example.org', 'High', 'Pending'],
  ['Move the nightly backup to 02:30', 'Medium', 'Pending'],
  ['Delete test accounts', 'Low', 'Pending'],
  ['Ask for a second power feed in rack 4', 'Medium', 'Pending'],
  ['Write down how to restore the database', 'High', 'Pending'],
  ['Find out why web-2 swaps at night', 'Critical', 'InProgress'],
  ['Replace the failing disk in db-1', 'Critical', 'InProgress'],
  ['Upgrade PostgreSQL to 17', 'High', 'InProgress'],
  ['Test the restore of last week', 'High', 'Completed'],
  ['Rotate the keys of the build server', 'Medium', 'Completed'],
  ['Raise the limit of open files on web-1', 'Medium', 'Completed'],
  ['Clean /var/log on mail-1', 'Low', 'Completed'],
  ['Buy more licences', 'Low', 'Cancelled'],
];

const alerts: [level: string, source: string, hostname: string, message: string, weight: number][] = [
  ['INFO', 'backup', 'db-1', 'Backup finished: 18.4 GB in 6 min 12 s', 6],
  ['INFO', 'deploy', 'web-1', 'Version 2.14.0 is running', 3],
  ['INFO', 'sshd', 'web-2', 'Session opened for user ada', 5],
  ['WARNING', 'disk', 'mail-1', '/var is 86 % full', 5],
  ['WARNING', 'certificates', 'web-1', 'shop.example.org expires in 13 days', 2],
  ['WARNING', 'queue', 'mail-1', '412 messages wait to be sent', 3],
  ['ERROR', 'postgres', 'db-1', 'Replication is 48 s behind', 3],
  ['ERROR', 'nginx', 'web-2', 'Upstream timed out after 30 s', 4],
  ['CRITICAL', 'smart', 'db-1', 'Disk sdb: 8 sectors cannot be read', 1],
];

const commands = [
  'Get-Process -Name node',
  'Get-CimInstance -ClassName Win32_OperatingSystem',
  'Get-Process -Name signalbox*',
  'Remove-Item -Path /',
  'Get-Date',
];

export const addTasks = async (request: Request, headers: Record<string, string>): Promise<void> => {
  for (const [Title, Priority, Status] of tasks) {
    const { json } = await request('POST', '/api/tasks', { headers, body: { Title, Priority } });
    if (Status !== 'Pending') await request('PUT', `/api/tasks/${json['Id']}`, { headers, body: { Status } });
  }
};

export const runCommands = async (request: Request, headers: Record<string, string>): Promise<void> => {
  for (const command of commands) await request('POST', '/api/execute', { headers, body: { command } });
};

/**
 * Sends the alert of a step. The same step has the same alert in all runs. Alerts are mixed in proportion to their
 * weights.
 */
export const addAlert = async (request: Request, step: number): Promise<void> => {
  const weighted = alerts.flatMap((alert) => Array.from({ length: alert[4] }, () => alert));
  const [level, source, hostname, message] = weighted[(step * 13) % weighted.length] ?? [];
  await request('POST', '/api/alert', { body: { level, source, hostname, message } });
};

/** Adds silences for a known fault, for planned maintenance, and for a weekly restore test. */
export const addSilences = async (request: Request, headers: Record<string, string>): Promise<void> => {
  const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
  const silences = [
    { match: { source: 'queue', hostname: 'mail-*' }, endsAt: inHours(3), comment: 'Moving the relay' },
    { match: { text: '*timed out*' }, startsAt: inHours(20), endsAt: inHours(22), comment: 'web-2 gets more memory' },
    {
      match: { source: 'backup' },
      schedule: '0 2 * * 6',
      minutes: 90,
      timeZone: 'Europe/Berlin',
      comment: 'Restore test',
    },
  ];
  for (const body of silences) await request('POST', '/api/silences', { headers, body });
};

/** Adds watches for this machine and for services. */
export const addWatches = async (
  { request, url }: { request: Request; url: string },
  headers: Record<string, string>,
): Promise<void> => {
  const port = Number(new URL(url).port);
  const watches = [
    { name: 'shop', type: 'http', url: `${url}/livez`, limit: 500, every: 5 },
    { name: 'postgres', type: 'tcp', host: '127.0.0.1', port, limit: 200, every: 5 },
    { name: 'busy', type: 'cpu', limit: 95, for: 60 },
    { name: 'traffic', type: 'network', limit: 2 ** 20 },
    { name: 'mail', type: 'process', process: 'postfix', message: 'systemctl restart postfix' },
    { name: 'nas', type: 'disk', mounts: ['/mnt/nas'], limit: 95 },
    { name: 'old-web', type: 'load', limit: 2, enabled: false },
  ];
  for (const body of watches) await request('POST', '/api/watches', { headers, body });
};

/** Adds heartbeats and sends their runs, each 20 to 80 ms long. */
export const addHeartbeats = async (request: Request, headers: Record<string, string>): Promise<void> => {
  const heartbeats: [name: string, definition: object, signals: readonly string[]][] = [
    [
      'db-backup',
      {
        schedule: '0 2 * * *',
        timeZone: 'Europe/Berlin',
        grace: 3600,
        maxRunMinutes: 90,
        description: 'pg_dump of the shop to the NAS',
        tags: ['db'],
        open: true,
      },
      Array.from({ length: 36 }, (_, index) => (index % 2 === 0 ? 'start' : index === 17 ? '3' : '0')),
    ],
    ['certbot', { period: 43_200, description: 'Renews certificates' }, ['0', '0', '0', '0', '1']],
    [
      'queue-worker',
      { period: 3600, description: 'Processes the queue' },
      [...Array.from({ length: 24 }, () => '0'), 'start'],
    ],
    ['sync-photos', { schedule: '30 3 * * 6', timeZone: 'Europe/Berlin' }, ['start', '0']],
    ['report', { schedule: '0 7 * * 1-5', timeZone: 'Europe/Berlin', description: 'Sales of the day' }, []],
  ];
  for (const [name, body, signals] of heartbeats) {
    const { json } = await request('PUT', `/api/heartbeats/${name}`, { headers, body });
    for (const [index, signal] of signals.entries()) {
      if (signal !== 'start') await setTimeout(20 + ((index * 37) % 60));
      const output = signal === '3' ? 'pg_dump: error: No space left on device' : 'Finished: 18.4 GB';
      await request('POST', `/ping/${json['uuid']}/${signal}`, { body: output });
    }
  }
};

/** Sends alerts that open the first two incidents, for `takeIncidents`. */
export const addFirstAlerts = async (request: Request): Promise<void> => {
  for (const wanted of ['certificates', 'disk']) {
    const [level, source, hostname, message] = alerts.find((alert) => alert[1] === wanted) ?? [];
    await request('POST', '/api/alert', { body: { level, source, hostname, message } });
  }
};

/** Acknowledges the two oldest incidents, and creates a follow-up task for one of them. */
export const takeIncidents = async (request: Request, headers: Record<string, string>): Promise<void> => {
  const act = (path: string, body: object) => request('POST', `/api/incidents/${path}`, { headers, body });
  await act('1/acknowledge', { comment: 'The new certificate is ordered' });
  await act('1/comment', { comment: 'The new certificate arrives tomorrow, 12 days before the old one expires' });
  await act('1/task', {});
  await act('2/acknowledge', { until: new Date(Date.now() + 4 * 3_600_000).toISOString() });
};
