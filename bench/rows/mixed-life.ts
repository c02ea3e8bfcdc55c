import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ask, createPost, logIn, send } from '../support/ask.ts';
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
const streamMs = 2000;
/** How long the receiver of deliveries is there, and then away. */
const receiverMs = 15_000;

/** Memory in the life of a server: alerts, tasks that come and go, streams, logins, a receiver that goes away. */
export const mixedLife: Row = {
  ids: ['B31'],
  measure: async ({ scope, cores, isLong }) => {
    await requireSyncedFolder(scope.folder);
    const [minutes, settling] = lengths[isLong ? 'long' : 'usual'];
    let receiver = createScope(scope.folder);
    scope.atEnd(() => receiver.end());
    const sink = await startSink(receiver, cores);
    const config = join(scope.folder, 'config.json');
    const destinations = [{ name: 'sink', type: 'webhook', url: `${sink.url}/in` }];
    writeFileSync(config, JSON.stringify({ destinations }), { mode: 0o600 });
    // Refusals by a busy machine are not what is measured.
    const flags = ['--config', config, '--max-event-loop-delay', '0'];
    const server = await startSignalbox(scope, cores, { flags, reportsMemory: true });
    const { url } = server;
    const works = {
      alerts: () =>
        ask(createPost(`${url}/api/alert`, { source: 'backup', level: 'ERROR', message: 'the disk is full' })),
      tasks: async () => {
        const { Id } = JSON.parse(await ask(createPost(`${url}/api/tasks`, newTask)));
        const deleted = await send(`${url}/api/tasks/${Id}`, { method: 'DELETE' });
        if (!deleted || deleted.status >= 400) throw new Error(`DELETE answered ${deleted?.status}`);
      },
      streams: async () => {
        const opened = get(`${url}/api/events?topics=alerts,tasks`, (response) => response.resume());
        opened.on('error', () => undefined);
        await setTimeout(streamMs);
        opened.destroy();
      },
      logins: () => Promise.all([logIn(url), setTimeout(1000)]),
      absences: async () => {
        await setTimeout(receiverMs);
        await receiver.end();
        await setTimeout(receiverMs);
        receiver = createScope(scope.folder);
        await startSink(receiver, cores, Number(new URL(sink.url).port));
      },
    };
    const done = { alerts: 0, tasks: 0, streams: 0, logins: 0, absences: 0 };
    const end = performance.now() + minutes * 60_000;
    const live = async (name: keyof typeof works): Promise<void> => {
      for (; performance.now() < end; await setTimeout(pauseMs)) {
        await works[name]();
        done[name] += 1;
      }
    };
    const crowd = { alerts: clients, tasks: clients, streams, logins: 1, absences: 1 };
    const names = Object.keys(works) as (keyof typeof works)[];
    const life = Promise.all(names.flatMap((name) => Array.from({ length: crowd[name] }, () => live(name))));
    await Promise.race([setTimeout(settling * 60_000), life]);
    const before = await readMemory(server);
    await life;
    const after = await readMemory(server);
    const counts = names.map((name) => `${done[name].toLocaleString('en')} ${name}`).join(', ');
    return (['live', 'resident'] as const).map((key) => ({
      id: 'B31',
      work: `growth of memory ${key === 'live' ? 'in use' : 'resident'} after ${settling} min of mixed life (${counts})`,
      unit: ' MiB',
      ours: [after[key] - before[key]],
      rounds: `${minutes - settling} min${isLong ? '' : ' (--long: 50 min)'}`,
      goals: [{ of: 'value', atMost: 5 }],
    }));
  },
};
