import Type, { type Static } from 'typebox';
import { dependsOn } from '../../kit/dependencies.ts';
import { HostHeartbeat, HostProcess, linePattern, ReportedReadings } from '../../kit/host-report/report-schema.ts';
import { settingFacts } from '../../kit/setting-kind.ts';
import { severities } from '../../kit/severity.ts';
import { defineList, defineShape, nullable, orNull } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';
import { valueColumns } from './columns.ts';

export const HostParams = Type.Object({ name: Type.String({ description: 'Name of a host.', examples: ['web-1'] }) });

/** States of a host, worst first. */
const hostStates = ['silent', 'late', 'new', 'stopped', 'up'] as const;
export type HostStateName = (typeof hostStates)[number];

/** Creates the schema of a list of strings. Each string is a single line, because lists and messages show it. */
const lines = (maxLength: number, example: string, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength, pattern: linePattern, examples: [example] }), {
    maxItems: 20,
    description,
  });

export const tags = lines(100, 'web', 'Tags for filtering and grouping hosts.');
export const aliases = lines(
  255,
  'web-1.example.org',
  'Other values of `hostname` in alerts about this host, besides its name and host name.',
);
export const note = Type.String({ maxLength: 1000, description: 'Free text about the host.', examples: ['rack 4'] });
const hostName = Type.String({
  maxLength: 200,
  description: 'Up to 64 letters, digits, `.`, `_` and `-`; begins with a letter or digit.',
  examples: ['web-1'],
});

const describedFields = {
  tags: Type.Optional(tags),
  aliases: Type.Optional(aliases),
  note: Type.Optional(note),
  dependsOn: Type.Optional(dependsOn),
};

export const NewHost = defineShape('NewHost', {
  name: hostName,
  ...describedFields,
});

export const HostCode = defineShape('HostCode', {
  name: Type.String({ examples: ['web-1'] }),
  code: Type.String({
    description: 'The code, which works once; no other response contains the code.',
    examples: ['sbh_0Kq3T9f2VbN7sLx4WcYd'],
  }),
  expiresAt: Time,
});

export const Enrolment = defineShape('Enrolment', {
  code: Type.String({
    maxLength: 200,
    description: 'The code of `POST /api/hosts`.',
    examples: ['sbh_0Kq3T9f2VbN7sLx4WcYd'],
  }),
});

export const EnrolledHost = defineShape('EnrolledHost', {
  name: Type.String({ examples: ['web-1'] }),
  key: Type.String({
    description: 'Key with the scope `hosts:report`; no other response contains the key.',
    examples: ['sbk_0000000000000000000000000000000000000000000'],
  }),
});

export const ChangedHost = defineShape('ChangedHost', describedFields);

const Machine = Type.Object({
  id: Type.String({ examples: ['3f1c0d8e5b7a4c2f9e6d1a0b8c7f5e4d'] }),
  hostname: Type.String({ examples: ['web-1.example.org'] }),
  lastReportAt: Time,
});

/** Host with its state and latest readings. */
export const ShownHost = defineShape('Host', {
  name: Type.String({ examples: ['web-1'] }),
  state: Type.Enum(hostStates, {
    type: 'string',
    description:
      '`late`: no report for 60 s. `silent`: no report for `silentSeconds`. `stopped`: shut down cleanly within the last ten minutes. `new`: never reported.',
    examples: ['up'],
  }),
  since: nullable(Time, 'Time at which the state began; `null` for a new host.'),
  isHub: Type.Boolean({
    description: 'True if the host runs this server, or an instance that shares its database.',
    examples: [false],
  }),
  tags,
  aliases,
  note,
  dependsOn,
  hostname: nullable(Type.String({ examples: ['web-1.example.org'] }), 'Host name that the host reports.'),
  machineId: nullable(Type.String({ examples: ['3f1c0d8e5b7a4c2f9e6d1a0b8c7f5e4d'] })),
  duplicates: Type.Array(Machine, {
    description: 'Machines that report under this name, if there are several; otherwise empty.',
  }),
  version: nullable(Type.String({ examples: ['1.2.0'] }), 'Version of signalbox on the host.'),
  osName: nullable(Type.String({ examples: ['Debian GNU/Linux 12 (bookworm)'] })),
  uptimeSeconds: nullable(Type.Number({ examples: [86_400] })),
  allowsCommands: Type.Boolean({
    description: 'True if the host runs diagnostic commands for this server.',
    examples: [false],
  }),
  lastReportAt: orNull(Time, 'Time of the last report.'),
  clockSkewSeconds: nullable(
    Type.Number({ examples: [7] }),
    'Seconds by which the clock of the host is ahead; `null` if at most 5 seconds.',
  ),
  readings: nullable(ReportedReadings, 'Readings of the last report.'),
  openIncidents: Type.Integer({ description: 'Incidents of the host that are not resolved.', examples: [0] }),
  worstSeverity: orNull(
    Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
    'Worst severity of the unresolved incidents.',
  ),
  heartbeatCount: Type.Integer({ description: 'Heartbeats in the last report.', examples: [3] }),
  heartbeatProblems: Type.Integer({ description: 'Heartbeats that are `down` or `late`.', examples: [1] }),
  line: Type.Object(
    {
      start: Time,
      step: Type.Integer({ examples: [60] }),
      cpu: Type.Array(nullable(Type.Number({ examples: [0.25] })), { examples: [[0.25, null]] }),
    },
    { description: 'Mean CPU usage in each of the last 60 minutes; `null` if unknown.' },
  ),
  lastSilence: orNull(
    Type.Object({ from: Time, until: Time }),
    'Last period without reports: the times of the reports before and after.',
  ),
  updatedBy: settingFacts.updatedBy,
  updatedAt: settingFacts.updatedAt,
});
export type ShownHost = Static<typeof ShownHost>;

export const HostDetails = defineShape('HostDetails', {
  ...ShownHost.properties,
  heartbeats: Type.Array(
    Type.Object({
      name: HostHeartbeat.properties.name,
      state: HostHeartbeat.properties.state,
      lastPingAt: orNull(Time, 'Time of the last ping.'),
    }),
    { description: 'Heartbeats of the host as of its last report, those with problems first; at most 100.' },
  ),
});
export type HostDetails = Static<typeof HostDetails>;

/** Event on the `hosts` topic. */
export const HostEvent = defineShape('HostEvent', {
  ...ShownHost.properties,
  isDeleted: Type.Optional(
    Type.Boolean({ description: 'True if the host was deleted; otherwise absent.', examples: [true] }),
  ),
});

export const HostList = defineList('HostList', 'Hosts', ShownHost, 'Sorted by name.');

export const HostProcessList = defineShape('HostProcessList', {
  time: orNull(Time, 'Time of the reading.'),
  count: Type.Integer({ description: 'Number of processes in `data`.', examples: [1] }),
  data: Type.Array(HostProcess, { description: 'Processes with the most memory, largest first.' }),
});

const series = Type.Array(nullable(Type.Number({ examples: [0.25] })), { examples: [[0.25, null]] });

export const HostHistory = defineShape('HostHistory', {
  step: Type.Integer({ description: 'Seconds from one value to the next.', examples: [60] }),
  start: Type.String({
    format: 'date-time',
    description: 'Time of the first value of each list.',
    examples: ['2026-01-31T09:30:00.000Z'],
  }),
  count: Type.Integer({ description: 'Number of values in each list; an unknown value is `null`.', examples: [1] }),
  ...(Object.fromEntries(valueColumns.map((name) => [name, series])) as Record<
    (typeof valueColumns)[number],
    typeof series
  >),
  disks: Type.Array(Type.Object({ mountPath: Type.String({ examples: ['/'] }), used: series, total: series }), {
    description: 'Used bytes, and the sum of used bytes and bytes available to ordinary users.',
  }),
});
export type HostHistory = Static<typeof HostHistory>;

export const ReportReceipt = defineShape('ReportReceipt', {
  received: Type.Boolean({ examples: [true] }),
  name: Type.String({ examples: ['web-1'] }),
  time: Type.String({ ...Time, description: 'Time of receipt.' }),
  watchesId: Type.Optional(
    Type.String({ description: 'Id of the list of watches that the host must check.', examples: ['3f1c0d8e5b7a4c2f'] }),
  ),
  watches: Type.Optional(
    Type.Array(
      Type.Object({
        watch: Type.Object({}, { additionalProperties: true, description: 'Settings of the watch.' }),
        isVote: Type.Boolean({
          description: 'True if the host only reports results, without raising alerts.',
          examples: [false],
        }),
      }),
      { description: 'Watches that the host must check; absent if the host already has the list with this id.' },
    ),
  ),
  commands: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String({ examples: ['0b7e2c1a-5f0d-4c3e-9a44-1c2b3d4e5f60'] }),
        line: Type.String({ examples: ['Get-Process -Name node'] }),
        by: nullable(Type.String({ examples: ['admin'] })),
        requestId: Type.String({ examples: ['req-8@web-1'] }),
      }),
      { description: 'Commands that the host must run.' },
    ),
  ),
});

export const HostResult = defineShape('HostResult', {
  id: Type.String({
    maxLength: 64,
    description: 'Id of the command.',
    examples: ['0b7e2c1a-5f0d-4c3e-9a44-1c2b3d4e5f60'],
  }),
  rows: Type.Optional(
    Type.Array(Type.Object({}, { additionalProperties: true, examples: [{ Name: 'node', Id: 4086 }] }), {
      maxItems: 5000,
    }),
  ),
  truncated: Type.Optional(Type.Boolean({ examples: [false] })),
  error: Type.Optional(
    Type.String({ maxLength: 2000, description: 'Reason for a failure.', examples: ['no such process'] }),
  ),
});
