import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requires } from '../faults/support/requirements.ts';
import { waitUntil } from '../support/wait.ts';
import { type Machine, startMachine } from './support/machine.ts';

interface UnitAlert {
  id: string;
  source: string;
  message: string;
  status: string;
  resolves: string | null;
}

const needed = requires({ programs: ['systemd-nspawn', 'nsenter', 'systemd-run'], mounts: true });
test(
  'a unit that fails under a real systemd raises an alert by itself, and is resolved when it has not',
  needed,
  async (t) => {
    const machine = await startMachine(t);
    const { run } = machine;
    const start = '/srv/node /opt/signalbox/dist/signalbox.js --port 0 --data-dir /var/lib/signalbox';
    const folder = '/etc/systemd/system/signalbox.service.d';
    const text = `[Service]\\nExecStart=\\nExecStart=${start}\\n`;
    run('sh', '-c', `mkdir ${folder} && printf '${text}' > ${folder}/profiles.conf && systemctl daemon-reload`);
    run('systemctl', 'reset-failed');
    run('systemd-run', '--unit=demo-broken', '--wait', 'false');
    // Looks at once, instead of once a minute.
    await restart(machine);
    const [raised] = await waitForAlerts(machine, 1);
    assert.deepEqual([raised?.message, raised?.status], ['demo-broken.service has failed', 'firing']);
    run('systemctl', 'stop', 'signalbox');
    run('systemctl', 'reset-failed', 'demo-broken');
    await restart(machine);
    const [, ended] = await waitForAlerts(machine, 2);
    assert.deepEqual([ended?.status, ended?.resolves], ['resolved', raised?.id]);
    assert.equal(ended?.message, 'Resolved: demo-broken.service has no longer failed');
  },
);

const countStarts = ({ run }: Machine): string[] =>
  Array.from(run('journalctl', '-u', 'signalbox', '-o', 'cat').matchAll(/listens on (\S+)\n/g), ([, url = '']) => url);

const restart = async (machine: Machine): Promise<void> => {
  const { length } = countStarts(machine);
  machine.run('systemctl', 'restart', 'signalbox');
  await waitUntil('the server listens again', () => countStarts(machine).length > length);
};

/** The alerts about units, oldest first. */
const waitForAlerts = async (machine: Machine, count: number): Promise<UnitAlert[]> => {
  let alerts: UnitAlert[] = [];
  const url = countStarts(machine).at(-1);
  await waitUntil(`${count} alerts about units`, async () => {
    const { data } = (await (await fetch(`${url}/api/alerts/search?limit=100`)).json()) as { data: UnitAlert[] };
    alerts = data.filter(({ source }) => source === 'watch/units').toReversed();
    return alerts.length >= count;
  });
  return alerts;
};
