import Type, { type Static } from 'typebox';
import type { pressures } from '../../host/readings.ts';
import { describeProcess, History, hostUsage } from '../../kit/machine.ts';
import { defineShape, nullable, Time } from '../../kit/route.ts';

/** How many processes are recorded, of each kind. */
export const mostSnapshotProcesses = 15;

/** Entries of the system's journal. */
export const mostJournalEntries = 50;

const share = nullable(Type.Number({ examples: [1.5] }));
const rate = (description: string) => nullable(Type.Number({ examples: [52_000] }), description);

const process = describeProcess('while it was recorded');

export const MachineSnapshot = defineShape('MachineSnapshot', {
  takenAt: Type.String({ ...Time, description: 'When it was begun.' }),
  tookMs: Type.Integer({ description: 'Milliseconds until it was complete.', examples: [640] }),
  hostname: Type.String({ examples: ['web-1'] }),
  usage: Type.Object(hostUsage, { description: 'Of the last second, as the topic `host` has it.' }),
  pressure: Type.Object(
    { cpu: share, memory: share, io: share } satisfies Record<(typeof pressures)[number], unknown>,
    { description: 'Percent of the last minute in which a task waited; null where the kernel does not say.' },
  ),
  processes: nullable(
    Type.Object({
      count: Type.Integer({ description: 'Of all processes.', examples: [212] }),
      byCpu: Type.Array(process, { description: `The ${mostSnapshotProcesses} that used the processors most.` }),
      byMemory: Type.Array(process, { description: `The ${mostSnapshotProcesses} with the most memory.` }),
    }),
    'Without command lines, which may have secrets. Null if they could not be read in time.',
  ),
  disks: Type.Array(
    Type.Object({
      mountPath: Type.String({ examples: ['/'] }),
      used: Type.Number({ description: 'Bytes.', examples: [43_000_000_000] }),
      total: Type.Number({
        description: 'Used bytes and those that ordinary users can still fill.',
        examples: [52_000_000_000],
      }),
      read: rate('Bytes per second, null where the system does not say.'),
      written: rate('Bytes per second.'),
    }),
    { description: 'Fixed local disks and the root file system.' },
  ),
  history: nullable(History, 'The last 10 minutes in steps of 5 seconds, as `GET /api/history` has them.'),
  failedUnits: nullable(
    Type.Array(Type.String({ examples: ['backup.service'] })),
    'Units of systemd that have failed; null where it does not run.',
  ),
  journal: nullable(
    Type.Array(
      Type.Object({
        time: Time,
        source: Type.String({ description: 'The program that wrote it.', examples: ['kernel'] }),
        priority: nullable(Type.Integer({ examples: [3] }), 'As in syslog: 0 is the worst, 3 an error, 7 debugging.'),
        text: Type.String({ examples: ['Out of memory: Killed process 4086 (node)'] }),
      }),
    ),
    `The last ${mostJournalEntries} lines of the system's journal, oldest first, without what looks like a secret or a command line. Null where they cannot be read.`,
  ),
});
export type MachineSnapshot = Static<typeof MachineSnapshot>;
