import type { HostDetails, ShownHost } from '../../features/hosts/schema.ts';
import { compareHosts } from '../../kit/host-rank.ts';
import { print } from '../stdio.ts';
import { defineAskingCommand, type ListReply } from './ask.ts';
import { paintSeverity, toReadableTime, toRelativeTime, toTable } from './table.ts';

export const addHostCommand = defineAskingCommand({
  name: 'add-host',
  argument: { name: 'NAME' },
  summary:
    'Print a command that makes another machine report to this server. Run that command on the machine within 30 minutes.',
  details: ["The command contains a one-time code. Use an administrator's key, or a key with the scope hosts:create."],
  flags: {
    hub: { value: 'URL', summary: 'URL at which the machine reaches this server. Default: the URL of the request.' },
    tag: { value: 'TAG', isList: 'repeated', summary: 'Tag of the host; repeat the flag for several tags.' },
  },
  scope: 'hosts:create',
  run: async ({ ask, server }, { words: [name = ''], own: { hub, tag } }) => {
    const body = { name, ...(tag && { tags: tag }) };
    const { code } = await ask<{ code: string }>('api/hosts', { method: 'POST', body });
    const url = hub ?? server.url.href.replace(/\/$/, '');
    return print(`signalbox agent --hub ${url} ${code}\n`);
  },
});

export const hostsCommand = defineAskingCommand({
  name: 'hosts',
  summary: 'List the hosts that report to a server, worst first.',
  scope: 'incidents:read',
  run: async ({ ask, show }) =>
    show((await ask<ListReply<ShownHost>>('api/hosts')).data.toSorted(compareHosts), toHostTable, 'No hosts.\n'),
});

export const hostCommand = defineAskingCommand({
  name: 'host',
  argument: { name: 'NAME' },
  summary: 'Show one host of a server.',
  scope: 'incidents:read',
  run: async ({ ask, show }, { words: [name = ''] }) =>
    show([await ask<HostDetails>(`api/hosts/${encodeURIComponent(name)}`)], ([host]) => (host ? toDetails(host) : '')),
});

const toHostTable = (hosts: readonly ShownHost[]): string =>
  toTable(
    ['HOST', 'STATE', 'WORST', 'OPEN', 'CPU', 'MEMORY', 'DISK', 'REPORT', 'VERSION', 'TAGS'],
    hosts.map((host) => [
      host.name,
      host.state,
      host.worstSeverity ?? '',
      String(host.openIncidents),
      toPercent(host.readings?.cpu),
      toPercent(shareOf(host.readings?.memoryUsed, host.readings?.memoryTotal)),
      toPercent(findWorstDisk(host)?.share),
      host.lastReportAt === null ? 'never' : `${toRelativeTime(host.lastReportAt)} ago`,
      host.version ?? '',
      host.tags.join(', '),
    ]),
    { paint: paintSeverity, dropped: ['VERSION', 'WORST', 'DISK'] },
  );

const toDetails = (host: HostDetails): string => {
  const disks = (host.readings?.disks ?? []).map(
    ({ mountPath, used, total }) => `${mountPath} ${toPercent(shareOf(used, total))}`,
  );
  const rows: [string, string][] = [
    ['Host', host.name],
    ['State', host.since === null ? host.state : `${host.state} since ${toReadableTime(host.since)}`],
    ['Last report', host.lastReportAt === null ? 'never' : toReadableTime(host.lastReportAt)],
    ['Host name', [...(host.hostname === null ? [] : [host.hostname]), ...host.aliases].join(', ')],
    ['Machine', host.machineId ?? ''],
    ['Duplicates', host.duplicates.map(({ hostname, id }) => `${hostname} (${id})`).join(', ')],
    ['System', host.osName ?? ''],
    ['Version', host.version ?? ''],
    ['Clock', host.clockSkewSeconds === null ? '' : toSkewText(host.clockSkewSeconds)],
    ['CPU', toPercent(host.readings?.cpu)],
    ['Memory', toPercent(shareOf(host.readings?.memoryUsed, host.readings?.memoryTotal))],
    ['Load', host.readings?.load?.toString() ?? ''],
    ['Disks', disks.join(', ')],
    ['Heartbeats', host.heartbeats.map(({ name, state }) => `${name} ${state}`).join(', ')],
    ['Incidents', host.openIncidents === 0 ? 'none' : `${host.openIncidents} open, worst ${host.worstSeverity}`],
    ['Tags', host.tags.join(', ')],
    ['Depends on', host.dependsOn.join(', ')],
    ['Note', host.note],
  ];
  const shown = rows.filter(([, text]) => text !== '');
  return toTable(['', ''], shown).replace(/^.*\n/, '');
};

const toSkewText = (seconds: number): string => `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;

const shareOf = (used: number | null | undefined, total: number | null | undefined): number | undefined =>
  typeof used === 'number' && typeof total === 'number' && total > 0 ? used / total : undefined;

const toPercent = (share: number | null | undefined): string =>
  typeof share === 'number' ? `${Math.round(share * 100)} %` : '';

const findWorstDisk = ({ readings }: ShownHost) =>
  (readings?.disks ?? [])
    .map(({ mountPath, used, total }) => ({ mountPath, share: shareOf(used, total) ?? 0 }))
    .toSorted((a, b) => b.share - a.share)[0];
