import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Incident, IncidentEvent } from '../../../src/features/incidents/schema.ts';
import type { MachinePicture } from '../../../src/features/pictures/schema.ts';
import { findSection, readText } from '../../repo/support/documents.ts';
import { secret } from '../../support/credentials.ts';
import { findFreePort } from '../../support/free-port.ts';
import { readNotificationTexts, toIncidentDestination } from '../../support/notifications.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { waitUntil } from '../../support/wait.ts';
import { requires } from '../faults/support/requirements.ts';
import { type Machine, startMachine } from './support/machine.ts';

const program = '/srv/node /opt/signalbox/dist/signalbox.js';

/** Writes a file in the container. The text must not contain single quotes. */
const write = ({ run }: Machine, path: string, text: string): void =>
  void run('sh', '-c', `mkdir -p "$(dirname ${path})" && printf %s '${text}' > ${path}`);

/** Returns a unit that runs the command in the guide's recipe for timers, with a heartbeat on this server. */
const toUnit = (uuid: string, url: string): string => {
  const [line = ''] = /^ExecStart=.*$/m.exec(findSection(readText('docs/guides/heartbeats.md'), 'Recipes')) ?? [];
  const start = line.replace('/usr/bin/signalbox', program).replace('$ADDRESS', uuid).replace('backup.sh', '/bin/true');
  assert.notEqual(start, line);
  return `[Service]\nType=oneshot\nEnvironment=SIGNALBOX_URL=${url}\n${start}\n`;
};

const needed = requires({ programs: ['systemd-nspawn', 'nsenter', 'systemd-run'], mounts: true });
test(
  'a receiver is notified of a full disk, a job that does not run and a failed unit, and of their resolution',
  needed,
  async (t) => {
    const begun = performance.now();
    const say = (text: string): void =>
      t.diagnostic(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}`);
    const received: string[] = [];
    const receiver = await startReceiver(t, (response, { body }) => {
      for (const message of readNotificationTexts(body)) {
        received.push(message);
        say(`the receiver gets: ${message}`);
      }
      response.end();
    });
    const [uuid, port] = [randomUUID(), await findFreePort()];
    const url = `http://127.0.0.1:${port}`;
    const machine = await startMachine(t);
    const { run } = machine;
    run('sh', '-c', 'mkdir /mnt && mount -t tmpfs -o size=16m tmpfs /mnt');
    const settings = {
      destinations: [toIncidentDestination(receiver)],
      heartbeats: [{ name: 'backup', uuid, period: 10, grace: 1 }],
      watches: [
        { name: 'small', type: 'disk', mounts: ['/mnt'], limit: 80, every: 1, message: 'Delete old dumps' },
        { name: 'units', type: 'service', failed: true, level: 'ERROR', every: 1 },
        { name: 'web', type: 'service', units: ['demo-running', 'no-such'], every: 1, enabled: false },
      ],
    };
    write(machine, '/etc/signalbox/config.json', JSON.stringify(settings));
    const start = `${program} --config /etc/signalbox/config.json --port ${port} --data-dir /var/lib/signalbox`;
    write(
      machine,
      '/etc/systemd/system/signalbox.service.d/own.conf',
      `[Service]\nExecStart=\nExecStart=${start}\nEnvironment="SIGNALBOX_JWT_SECRET=${secret}"\n`,
    );
    write(machine, '/etc/systemd/system/backup.service', toUnit(uuid, url));
    const times = 'OnActiveSec=0\nOnUnitActiveSec=3\nAccuracySec=100ms';
    write(machine, '/etc/systemd/system/backup.timer', `[Timer]\n${times}\n`);
    run('systemctl', 'daemon-reload');
    run('systemctl', 'reset-failed');
    const headers = { authorization: `Bearer ${signToken(createClaims())}` };
    const read = async <T>(path: string): Promise<T> => (await (await fetch(url + path, { headers })).json()) as T;
    const restart = async (): Promise<void> => {
      run('systemctl', 'restart', 'signalbox');
      await waitUntil('the server listens again', () =>
        fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
    };
    const waitFor = (message: RegExp): Promise<void> =>
      waitUntil(`the receiver gets ${message}`, () => received.some((each) => message.test(each)));
    await restart();

    say('the timer of the job is started');
    run('systemctl', 'start', 'backup.timer');
    const readJob = () =>
      read<{ state: string; lastRun: { exitCode: number | null } | null }>('/api/heartbeats/backup');
    await waitUntil('the job has run', async () => (await readJob()).lastRun?.exitCode === 0);
    assert.match((await readJob()).state, /up|running/);
    assert.deepEqual(received, []);
    say('the timer is stopped');
    run('systemctl', 'stop', 'backup.timer');

    say('12 MiB are written to a file system of 16 MiB');
    run('sh', '-c', 'head -c 13500000 /dev/zero > /mnt/dump');
    await waitFor(/^opened #\d+ \/mnt is 8\d(\.\d)? % full \([\d.]+ MiB free\), limit 80 %$/);
    await waitFor(/^opened #\d+ Heartbeat backup is late: due at /);
    say('the dump is deleted, and the timer is started');
    run('rm', '/mnt/dump');
    run('systemctl', 'start', 'backup.timer');
    await waitFor(/^resolved #\d+ \/mnt is/);
    await waitFor(/^resolved #\d+ Heartbeat backup/);
    run('systemctl', 'stop', 'backup.timer');

    say('a unit fails');
    run('systemd-run', '--unit=demo-broken', '--wait', 'sh', '-c', 'echo token=hunter2; exit 3', '--password=hunter2');
    await waitFor(/^opened #\d+ demo-broken\.service has failed$/);
    const find = async (): Promise<Incident | undefined> =>
      (await read<{ data: Incident[] }>('/api/incidents')).data.find(({ title }) => title.startsWith('demo-broken'));
    await waitUntil('the incident has a picture', async () => (await find())?.snapshot !== null);
    const picture = await read<MachinePicture>(`/api/incidents/${(await find())?.number}/snapshot`);
    assert.deepEqual(picture.failedUnits, ['demo-broken.service']);
    const ownProcess = picture.processes?.byMemory.find(({ user }) => user === 'signalbox');
    assert.ok(ownProcess, JSON.stringify(picture));
    const lines = picture.journal?.map(({ source, text }) => `${source}: ${text}`) ?? [];
    assert.ok(lines.includes("systemd: demo-broken.service: Failed with result 'exit-code'."), lines.join('\n'));
    say(
      `its picture: ${picture.failedUnits} has failed; ${lines.length} lines of the journal, the last one ${lines.at(-1)}`,
    );
    // The journal contains these words, and the generated passwords.
    const secrets = [...run('journalctl', '-o', 'cat').matchAll(/Password of \w+ for this run: (\S+)|(hunter2)/g)];
    assert.ok(secrets.length >= 3);
    for (const [, password, other = password] of secrets) {
      assert.ok(other && !lines.some((line) => line.includes(other)), `${other}: ${lines.join('\n')}`);
    }
    say('the server is stopped; meanwhile the unit is reset');
    run('systemctl', 'stop', 'signalbox');
    run('systemctl', 'reset-failed', 'demo-broken');
    await restart();
    await waitFor(/^resolved #\d+ demo-broken\.service has failed$/);
    const { data } = await read<{ data: Incident[] }>('/api/incidents?state=all');
    for (const { number, title, source } of data.toReversed()) {
      say(`incident #${number} of ${source}: ${title}`);
      const { timeline } = await read<{ timeline: IncidentEvent[] }>(`/api/incidents/${number}`);
      for (const { at, type, destination, result } of timeline) {
        say(`  ${[at, type, destination, result].filter((part) => part !== null && part !== undefined).join(' ')}`);
      }
    }

    // A watch on a missing unit is unknown, and a watch on a running unit is up.
    const web = { ...settings, watches: settings.watches.map((watch) => ({ ...watch, enabled: true })) };
    write(machine, '/etc/signalbox/config.json', JSON.stringify(web));
    run('systemctl', 'start', 'demo-running');
    run('systemctl', 'reload', 'signalbox');
    await waitFor(/^opened #\d+ Watch web cannot run its check: systemd has no unit no-such\.service$/);
    run('systemctl', 'stop', 'demo-running');
    await waitFor(/^opened #\d+ demo-running\.service is inactive \(dead\)$/);
  },
);
