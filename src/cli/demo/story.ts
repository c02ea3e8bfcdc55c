import { setInterval, setTimeout } from 'node:timers/promises';
import type { Heartbeat } from '../../features/heartbeats/schema.ts';
import type { Incident } from '../../features/incidents/schema.ts';
import { toPerson } from '../../kit/people.ts';
import { fillDisk } from './filling-disk.ts';
import type { Narrator } from './narrator.ts';
import { periodSeconds, type Scene, type Stage } from './stage.ts';

/** Plays the story: a bad hour for senders, jobs and people, told in a minute. */
export const tellStory = async (scene: Scene): Promise<void> => {
  const { call, pause, narrator } = scene;
  await backUp(scene);
  await pause(2);
  await sendErrors(scene, 'firing');
  await pause(3);
  await failCopy(scene);
  await pause(3);
  await acknowledge(scene, 'rsync', 'On it');
  // Nobody acknowledges the first incident, so a phone rings. Meanwhile, the job misses its next run.
  await Promise.all([fillDisk(scene), escalate(scene)]);
  await pause(2);
  narrator.tell('sender', 'cron', 'the copy on db-1 has succeeded');
  await call('cron', 'POST', '/api/alert', { ...copy, level: 'INFO', message: 'rsync succeeded', status: 'resolved' });
  await pause(2);
  await sendErrors(scene, 'resolved');
  await pause(3);
  await followUp(scene);
  await pause(3);
  await silence(scene);
  await pause(3);
  await leaveOne(scene);
};

/** Plays the events while the disk fills up. */
const escalate = async (scene: Scene): Promise<void> => {
  const { pause, end } = scene;
  await waitUntilLate(scene);
  await pause(6);
  await acknowledge(scene, 'checkout', 'Rolling back the deployment');
  await pause(3);
  await backUp(scene);
  // Keeps going until the demonstration ends.
  keepRunning(scene, end).catch(() => undefined);
};

/** Runs the job once. The next run comes so much later that the heartbeat becomes late. */
const backUp = async ({ call, pingPath, narrator }: Scene): Promise<void> => {
  narrator.tell('sender', 'cron', 'nightly-backup has run, and pings its heartbeat');
  await call('cron', 'POST', pingPath, { files: 412 });
};

/** Keeps running the job on time. */
const keepRunning = async ({ call, pingPath }: Scene, signal: AbortSignal): Promise<void> => {
  for await (const _ of setInterval(periodSeconds * 700, undefined, { signal })) {
    await call('cron', 'POST', pingPath, { files: 413 });
  }
};

/** Waits until the heartbeat is down because its next run is overdue. */
const waitUntilLate = async ({ call, end }: Scene): Promise<void> => {
  for (; ; await setTimeout(200, undefined, { signal: end })) {
    const { data } = await call('anna', 'GET', '/api/heartbeats');
    if ((data as { state: string }[]).some(({ state }) => state === 'down')) return;
  }
};

const sendErrors = async ({ call, narrator }: Scene, status: 'firing' | 'resolved'): Promise<void> => {
  const isOver = status === 'resolved';
  const labels = { alertname: 'CheckoutErrors', severity: 'critical', instance: 'shop-1:9100', team: 'shop' };
  narrator.tell('sender', 'Alertmanager', `CheckoutErrors on shop-1 ${isOver ? 'is resolved' : 'fires'}`);
  await call('alertmanager', 'POST', '/api/alert/alertmanager', {
    version: '4',
    groupKey: '{}:{alertname="CheckoutErrors"}',
    truncatedAlerts: 0,
    status,
    receiver: 'signalbox',
    groupLabels: { alertname: 'CheckoutErrors' },
    commonLabels: labels,
    commonAnnotations: {},
    externalURL: 'http://alertmanager.example:9093',
    alerts: [
      {
        status,
        labels,
        startsAt: new Date(Date.now() - 60_000).toISOString(),
        annotations: {
          summary: isOver ? '0.1 % of checkout requests fail' : '14 % of checkout requests fail',
          description: 'Since the deployment of shop 1.2',
        },
        endsAt: isOver ? new Date().toISOString() : '0001-01-01T00:00:00Z',
        generatorURL: 'http://prometheus.example:9090/graph?g0.expr=errors',
        fingerprint: 'd8e1c9a1f3b2a047',
      },
    ],
  });
};

const copy = { source: 'copy', hostname: 'db-1', key: 'copy/db-1' };

const failCopy = async ({ call, narrator }: Scene): Promise<void> => {
  narrator.tell('sender', 'cron', 'signalbox run reports that rsync failed on db-1, three times');
  for (const seconds of [30, 31, 34]) {
    const message = `rsync failed with exit code 11 after ${seconds} s: no space left on /mnt/dump`;
    await call('cron', 'POST', '/api/alert', { ...copy, level: 'ERROR', message, status: 'firing' });
  }
};

const findIncident = async ({ call }: Scene, text: string): Promise<Incident | undefined> => {
  const { data } = await call('anna', 'GET', '/api/incidents?state=all');
  return (data as Incident[]).find(({ title }) => title.includes(text));
};

const acknowledge = async (scene: Scene, text: string, comment: string): Promise<void> => {
  const incident = await findIncident(scene, text);
  if (incident?.state !== 'open') return;
  scene.narrator.tell('person', 'anna', `acknowledges incident #${incident.number}: "${comment}"`);
  await scene.call('anna', 'POST', `/api/incidents/${incident.number}/acknowledge`, { comment });
};

const followUp = async (scene: Scene): Promise<void> => {
  const { call, narrator } = scene;
  const incident = await findIncident(scene, 'checkout');
  if (incident) {
    narrator.tell('person', 'anna', `creates a task for the follow-up of incident #${incident.number}`);
    await call('anna', 'POST', `/api/incidents/${incident.number}/task`, {});
  }
  narrator.tell('person', 'admin', 'creates two more tasks: signalbox tasks');
  for (const body of [
    { Title: 'Order a larger disk for db-1', Priority: 'High' },
    { Title: 'Test the restore of the dump', Description: 'On the spare machine' },
  ]) {
    await call('admin', 'POST', '/api/tasks', body);
  }
};

const silence = async ({ call, narrator }: Scene): Promise<void> => {
  narrator.tell('person', 'anna', 'silences source=lab* for an hour: alerts are stored, but nobody is notified');
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  await call('anna', 'POST', '/api/silences', { match: { source: 'lab*' }, endsAt, comment: 'New machines' });
  await call('cron', 'POST', '/api/alert', { source: 'lab-7', level: 'ERROR', message: 'The test rack is on fire' });
};

const leaveOne = async (scene: Scene): Promise<void> => {
  const { call, narrator, url } = scene;
  narrator.tell('sender', 'Uptime Kuma', 'Shop is down');
  await call('uptime-kuma', 'POST', '/api/alert/uptime-kuma', {
    heartbeat: {
      monitorID: 7,
      status: 0,
      time: new Date().toISOString().slice(0, 23).replace('T', ' '),
      msg: 'connect ECONNREFUSED 192.0.2.7:443',
      ping: null,
      important: true,
      duration: 60,
      timezone: 'UTC',
      timezoneOffset: '+00:00',
    },
    monitor: { id: 7, name: 'Shop', type: 'http', url: 'https://shop.example/health', hostname: null, port: null },
    msg: '[Shop] [🔴 Down] connect ECONNREFUSED 192.0.2.7:443',
  });
  await scene.pause(2);
  narrator.tell(
    'person',
    'you',
    `can acknowledge this incident at ${url}/console/ or with signalbox ack. Ctrl+C ends the demo.`,
  );
};

const pollMs = 100;

/** Reports changes to incidents and heartbeats until the signal is aborted. */
export const watchIncidents = async ({ call }: Stage, { tell }: Narrator, signal: AbortSignal): Promise<void> => {
  const known = new Map<string, string>();
  /** True if the state of the incident or heartbeat has changed since the last call. */
  const hasChanged = (thing: string, state: string): boolean => {
    const isSame = known.get(thing) === state;
    known.set(thing, state);
    return !isSame;
  };
  for (; !signal.aborted; await setTimeout(pollMs, undefined, { signal })) {
    const beats = (await call('anna', 'GET', '/api/heartbeats'))['data'] as Heartbeat[];
    for (const { name, state } of beats) {
      const what = states[state];
      if (hasChanged(name, state) && what !== undefined) tell('machine', 'heartbeat', `${name} ${what}`);
    }
    const incidents = (await call('anna', 'GET', '/api/incidents?state=all'))['data'] as Incident[];
    for (const incident of incidents.toReversed()) {
      if (hasChanged(`#${incident.number}`, incident.state)) {
        tell('incident', `incident #${incident.number}`, describe(incident));
      }
    }
  }
};

const states: Record<string, string> = {
  up: 'is up',
  late: 'is late',
  down: 'is down: the job did not run in time',
};

const describe = ({ state, level, title, acknowledgedBy, resolvedBy }: Incident): string => {
  if (state === 'acknowledged') return `is acknowledged by ${toActor(acknowledgedBy)}`;
  return state === 'resolved' ? `is resolved by ${toActor(resolvedBy)}: ${title}` : `opens: ${level} ${title}`;
};

const toActor = (name: string | null): string => (name === null ? 'its sender' : toPerson(name));
