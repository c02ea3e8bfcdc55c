import Type, { type Static } from 'typebox';
import { heartbeatStates } from '../heartbeat-states.ts';
import { describeProcess } from '../machine.ts';
import { defineShape, nullable } from '../shape.ts';

/** Maximum number of stored readings in a report besides the current readings. They cover an hour. */
export const mostKept = 60;

/** Maximum number of heartbeats in a report. */
export const mostHeartbeats = 100;

/** Maximum number of processes in a report. */
export const mostProcesses = 30;

/** Pattern of a single-line text. Names from a host must match, because lists and messages show them. */
export const linePattern = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';

/** Characters that a single line must not contain. */
const controls = /[\p{Cc}\u2028\u2029]/gu;

/** Converts text to a single line for a report, with at most `length` characters. */
export const toReportLine = (text: string, length: number): string => text.replaceAll(controls, ' ').slice(0, length);

const line = (maxLength: number, example: string, description?: string, minLength = 0) =>
  Type.String({
    ...(minLength > 0 && { minLength }),
    maxLength,
    pattern: linePattern,
    examples: [example],
    ...(description !== undefined && { description }),
  });

const value = (example: number, description: string, maximum = 1e18) =>
  Type.Optional(nullable(Type.Number({ minimum: 0, maximum, examples: [example] }), description));

/** Maximum of a share. Twice a whole, so that a report is not lost when the clock of its host jumps. */
const mostShare = 2;
const mostPercent = 100 * mostShare;

export const Disk = Type.Object({
  mountPath: line(255, '/'),
  used: Type.Number({ minimum: 0, maximum: 1e18, description: 'Bytes.', examples: [21_474_836_480] }),
  total: Type.Number({
    minimum: 0,
    maximum: 1e18,
    description: 'Used bytes and bytes available to ordinary users.',
    examples: [107_374_182_400],
  }),
});
export type Disk = Static<typeof Disk>;

export const ReportedReadings = defineShape('HostReadings', {
  cpu: value(0.25, 'Usage of all CPUs, from 0 to 1.', mostShare),
  memoryUsed: value(2_147_483_648, 'Bytes.'),
  memoryTotal: value(8_589_934_592, 'Bytes.'),
  swapUsed: value(0, 'Bytes.'),
  swapTotal: value(1_073_741_824, 'Bytes.'),
  load: value(0.5, 'Mean number of runnable processes over a minute.'),
  networkReceived: value(1200, 'Bytes per second.'),
  networkSent: value(800, 'Bytes per second.'),
  diskRead: value(4096, 'Bytes per second, of mounted fixed disks.'),
  diskWritten: value(8192, 'Bytes per second, of mounted fixed disks.'),
  temperature: value(48, 'Degrees Celsius of the hottest sensor.'),
  pressureCpu: value(0.4, 'Percent of the last minute in which a task waited for a CPU.', mostPercent),
  pressureMemory: value(0, 'Percent of the last minute in which a task waited for memory.', mostPercent),
  pressureIo: value(0.1, 'Percent of the last minute in which a task waited for a disk.', mostPercent),
  processCount: value(180, 'Number of processes.'),
  disks: Type.Optional(
    Type.Array(Disk, {
      maxItems: 32,
      description: 'Fixed local disks and the root file system; at most 8 disks have a history.',
    }),
  ),
});
export type ReportedReadings = Static<typeof ReportedReadings>;

const clockTime = Type.String({
  maxLength: 40,
  description: "RFC 3339, by the host's clock.",
  examples: ['2026-01-31T08:30:00.000Z'],
});

export const HostProcess = describeProcess('since the previous reading');
export type HostProcess = Static<typeof HostProcess>;

/** Heartbeat of a host. Jobs on the host ping it there. */
export const HostHeartbeat = Type.Object({
  name: line(64, 'backup', 'Name of the heartbeat on the host.'),
  state: Type.Enum(heartbeatStates, { type: 'string', examples: ['up'] }),
  pingAge: nullable(Type.Number({ minimum: 0, maximum: 1e10, examples: [3600] }), 'Seconds since the last ping.'),
});
export type HostHeartbeat = Static<typeof HostHeartbeat>;

export const HostReport = defineShape('HostReport', {
  time: clockTime,
  machineId: line(128, '3f1c0d8e5b7a4c2f9e6d1a0b8c7f5e4d', 'Id of the machine, from /etc/machine-id.', 1),
  hostname: line(255, 'web-1.example.org', 'Host name of the machine.', 1),
  version: Type.Optional(line(64, '1.2.0', 'Version of signalbox.')),
  osName: Type.Optional(nullable(line(255, 'Debian GNU/Linux 12 (bookworm)'))),
  uptimeSeconds: Type.Optional(Type.Number({ minimum: 0, maximum: 1e10, examples: [86_400] })),
  readings: ReportedReadings,
  kept: Type.Optional(
    Type.Array(Type.Object({ time: clockTime, readings: ReportedReadings }), {
      maxItems: mostKept,
      description: 'Stored readings from the time when the hub was unreachable, oldest first.',
    }),
  ),
  keptLeft: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100_000,
      description: 'Number of minutes of stored readings that later reports will contain.',
      examples: [0],
    }),
  ),
  processes: Type.Optional(
    Type.Array(HostProcess, {
      maxItems: mostProcesses,
      description: 'Processes with the most memory, about once a minute.',
    }),
  ),
  allowsCommands: Type.Optional(
    Type.Boolean({ description: 'True if the host runs diagnostic commands for the hub.', examples: [false] }),
  ),
  watchesId: Type.Optional(line(64, '3f1c0d8e5b7a4c2f', 'Id of the latest list of watches received from the hub.')),
  checks: Type.Optional(
    Type.Array(
      Type.Object({
        watch: line(64, 'shop'),
        thing: line(1000, 'https://shop.example'),
        state: Type.Enum(['good', 'bad', 'unknown'], { type: 'string', examples: ['good'] }),
        text: line(2000, 'https://shop.example responded 200 after 31 ms'),
      }),
      { maxItems: 100, description: 'Last results of watches that this host checks together with other hosts.' },
    ),
  ),
  heartbeats: Type.Optional(
    Type.Array(HostHeartbeat, { maxItems: mostHeartbeats, description: 'Heartbeats of the host.' }),
  ),
  isStopping: Type.Optional(
    Type.Boolean({ description: 'True if the host is shutting down cleanly.', examples: [false] }),
  ),
});
export type HostReport = Static<typeof HostReport>;
