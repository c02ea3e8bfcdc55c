import { get } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { alert } from '../support/alert-log.ts';
import { sink } from '../support/opponents.ts';
import { ask, createPost, logIn } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { createScope, readMemory, startServer, startSignalbox } from '../support/server.ts';
import { newTask } from '../support/tasks.ts';

/** Duration of the whole row in minutes, and minutes before the first memory reading. */
const lengths = { usual: [2, 1], long: [60, 10] } as const;
const pauseMs = 5;
const streamMs = 2000;
/** Milliseconds for which the receiver of deliveries is up, and milliseconds for which it is then down. */
const receiverMs = 15_000;

/**
 * Measures memory over the life of a server with alerts, tasks that come and go, streams, logins, and a receiver that
 * goes down.
 */
export const mixedLife: Measure = async ({ scope, isLong }) => {
  const [minutes, settling] = lengths[isLong ? 'long' : 'usual'];
  let receiver = createScope(scope.folder);
  scope.after(() => receiver.end());
  const { url: sinkUrl } = await startServer(receiver, sink);
  const port = Number(new URL(sinkUrl).port);
  const config = { destinations: [{ name: 'sink', type: 'webhook', url: `${sinkUrl}/in` }] };
  // Turns off refusals by a busy machine, because this row does not measure them.
  const server = await startSignalbox(scope, { config, flags: ['--max-event-loop-delay', '0'], reportsMemory: true });
  const { url } = server;
  const createAlert = createPost(`${url}/api/alert`, alert);
  const bytes = [Buffer.byteLength(await ask(createAlert))];
  const works = {
    alerts: () => ask(createAlert),
    tasks: async () => {
      const { Id } = JSON.parse(await ask(createPost(`${url}/api/tasks`, newTask)));
      await ask({ url: `${url}/api/tasks/${Id}`, method: 'DELETE' });
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
      await startServer(receiver, { ...sink, port });
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
  const crowd = { alerts: 4, tasks: 4, streams: 10, logins: 1, absences: 1 };
  const names = Object.keys(works) as (keyof typeof works)[];
  const life = Promise.all(names.flatMap((name) => Array.from({ length: crowd[name] }, () => live(name))));
  await Promise.race([setTimeout(settling * 60_000), life]);
  const before = await readMemory(server);
  await life;
  const after = await readMemory(server);
  const counts = names.map((name) => `${done[name].toLocaleString('en')} ${name}`).join(', ');
  return (['live', 'resident'] as const).map((key) => ({
    work: `growth of memory ${key === 'live' ? 'in use' : 'resident'} after ${settling} min of mixed life (${counts})`,
    unit: ' MiB',
    ours: [after[key] - before[key]],
    bytes,
    rounds: `${minutes - settling} min${isLong ? '' : ', a short run (--long: 50 min)'}`,
    goal: '≤ 5 MiB',
  }));
};
