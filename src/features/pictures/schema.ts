import Type, { type Static } from 'typebox';
import type { pressures } from '../../host/readings.ts';
import { describeProcess, History, hostUsage } from '../../kit/machine.ts';
import { defineShape, nullable } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';

/** Maximum size in bytes of a picture as JSON. */
export const maxPictureBytes = 64 * 1024;

/** Maximum number of processes in each of the two lists. */
export const maxPictureProcesses = 15;

/** Maximum number of lines from the system's journal. */
export const maxJournalLines = 50;

const share = nullable(Type.Number({ examples: [1.5] }));
const rate = (description: string) => nullable(Type.Number({ examples: [52_000] }), description);

const process = describeProcess('while the picture was taken');

/** Picture of the machine. Version 1.1.0 of the API named this shape MachineSnapshot. */
export const MachinePicture = defineShape('MachineSnapshot', {
  takenAt: Type.String({ ...Time, description: 'Time at which the first value was read.' }),
  tookMs: Type.Integer({ description: 'Milliseconds until the last value was read.', examples: [640] }),
  hostname: Type.String({ examples: ['web-1'] }),
  usage: Type.Object(hostUsage, { description: 'Usage in the last second, as in the topic `host`.' }),
  pressure: Type.Object(
    { cpu: share, memory: share, io: share } satisfies Record<(typeof pressures)[number], unknown>,
    { description: 'Percent of the last minute in which a task waited; null if the kernel does not report it.' },
  ),
  processes: nullable(
    Type.Object({
      count: Type.Integer({ description: 'Number of all processes.', examples: [212] }),
      byCpu: Type.Array(process, {
        description: `The ${maxPictureProcesses} processes with the most CPU time.`,
      }),
      byMemory: Type.Array(process, { description: `The ${maxPictureProcesses} processes with the most memory.` }),
    }),
    'Processes, without command lines, which may contain secrets; null if they could not be read in time.',
  ),
  disks: Type.Array(
    Type.Object({
      mountPath: Type.String({ examples: ['/'] }),
      used: Type.Number({ description: 'Bytes.', examples: [43_000_000_000] }),
      total: Type.Number({
        description: 'Used bytes and bytes available to ordinary users.',
        examples: [52_000_000_000],
      }),
      read: rate('Bytes per second; null if the system does not report them.'),
      written: rate('Bytes per second.'),
    }),
    { description: 'Fixed local disks and the root file system.' },
  ),
  history: nullable(History, 'The last 10 minutes in steps of 5 seconds, as in `GET /api/history`.'),
  failedUnits: nullable(
    Type.Array(Type.String({ examples: ['backup.service'] })),
    'Failed units of systemd; null without systemd.',
  ),
  journal: nullable(
    Type.Array(
      Type.Object({
        time: Time,
        source: Type.String({ description: 'Program that wrote the line.', examples: ['kernel'] }),
        priority: nullable(
          Type.Integer({ examples: [3] }),
          'Priority of syslog: 0 is the worst, 3 an error, 7 debugging.',
        ),
        text: Type.String({ examples: ['Out of memory: Killed process 4086 (node)'] }),
      }),
    ),
    `The last ${maxJournalLines} lines of the system's journal, oldest first. Command lines and text that looks like a secret are removed; null if the journal cannot be read.`,
  ),
});
export type MachinePicture = Static<typeof MachinePicture>;
