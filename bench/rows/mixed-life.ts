import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ask, createPost, logIn } from '../support/ask.ts';
import { requireSyncedFolder } from '../support/disk.ts';
import { startSink } from '../support/opponents.ts';
import { createScope } from '../support/scope.ts';
import { readMemory, startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

/** Minutes of the whole row, and before memory is read for the first time. */
const lengths = { usual: [5, 2], long: [60, 10] } as const;
const clients = 4;
const pauseMs = 5;
const streams = 10;
/** The receiver of deliveries is there and away for as long. */
const receiverMs = 15_000;

/** Memory in the life of a server: alerts, tasks that come and go, streams, logins, a receiver that goes away. */
const mixedLife: Row = {
  ids: ['B31'],
  measure: async ({ scope, cores, isLong }) => {
    await requireSyncedFolder(scope.folder);
    const [minutes, settling] = lengths[isLong ? 'long' : 'usual'];
    const firstSink = createScope(scope.folder);
    const { url: sinkUrl } = await startSink(firstSink, cores);
    const config = join(scope.folder, 'config.json');
    const destinations = [{ name: 'sink', type: 'webhook', url: `${sinkUrl}/in` }];
    writeFileSync(config, JSON.stringify({ destinations }), { mode: 0o600 });
    const server = await startSignalbox(scope, cores, { flags: ['--config', config], reportsMemory: true });
    const { url } = server;
    const done = { alerts: 0, tasks: 0, streams: 0, logins: 0 };
    const end = performance.now() + minutes * 60_000;
    const repeat = async (pause: number, work: () => Promise<unknown>): Promise<void> => {
      for (; performance.now() < end; await setTimeout(pause)) await work();
    };
    const sendAlert = async (): Promise<void> => {
      await ask(createPost(`${url}/api/alert`, { source: 'backup', level: 'ERROR', message: `job ${done.alerts}` }));
      done.alerts += 1;
    };
    const createAndDelete = async (): Promise<void> => {
      const { Id } = JSON.parse(await ask(createPost(`${url}/api/tasks`, newTask)));
      const response = await fetch(`${url}/api/tasks/${Id}`, { method: 'DELETE' });
      await response.text();
      if (!response.ok) throw new Error(`DELETE answered ${response.status}`);
      done.tasks += 1;
    };
    const watch = async (): Promise<void> => {
      const opened = get(`${url}/api/events?topics=alerts,tasks`, (response) => response.resume());
      opened.on('error', () => undefined);
      await setTimeout(2000);
      opened.destroy();
      done.streams += 1;
    };
    let receiver = firstSink;
    const comeAndGo = async (): Promise<void> => {
      await setTimeout(receiverMs);
      await receiver.end();
      await setTimeout(receiverMs);
      receiver = createScope(scope.folder);
      await startSink(receiver, cores, Number(new URL(sinkUrl).port));
    };
    scope.atEnd(() => receiver.end());
    const life = Promise.all([
      ...Array.from({ length: clients }, () => repeat(pauseMs, sendAlert)),
      ...Array.from({ length: clients }, () => repeat(pauseMs, createAndDelete)),
      ...Array.from({ length: streams }, () => repeat(0, watch)),
      repeat(1000, async () => {
        await logIn(url);
        done.logins += 1;
      }),
      repeat(0, comeAndGo),
    ]);
    await Promise.race([setTimeout(settling * 60_000), life]);
    const before = await readMemory(server);
    await life;
    const after = await readMemory(server);
    const counts = Object.entries(done).map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
    const rounds = `${minutes - settling} min${isLong ? '' : ' (--long: 50 min)'}`;
    return (['live', 'resident'] as const).map((key) => ({
      id: 'B31',
      work: `growth of memory ${key === 'live' ? 'in use' : 'resident'} after the first ${settling} min of mixed life (${counts.join(', ')})`,
      unit: ' MiB',
      ours: [after[key] - before[key]],
      rounds,
      goals: [{ of: 'value', atMost: 5 }],
    }));
  },
};

export const lifeRows: readonly Row[] = [mixedLife];
