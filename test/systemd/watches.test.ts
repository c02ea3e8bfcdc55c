import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineSnapshot } from '../../src/profiles/snapshots/schema.ts';
import { requires } from '../faults/support/requirements.ts';
import { secret } from '../support/credentials.ts';
import { createClaims, signToken } from '../support/tokens.ts';
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
  'a unit that fails under a real systemd raises an alert by itself, with a snapshot of what the machine was doing, and is resolved',
  needed,
  async (t) => {
    const machine = await startMachine(t);
    const { run } = machine;
    const start =
      '/srv/node /opt/signalbox/dist/signalbox.js --port 0 --config /etc/signalbox.json --data-dir /var/lib/signalbox';
    const folder = '/etc/systemd/system/signalbox.service.d';
    const text = `[Service]\\nExecStart=\\nExecStart=${start}\\nEnvironment="SIGNALBOX_JWT_SECRET=${secret}"\\n`;
    const config = JSON.stringify({ watches: [{ name: 'units', type: 'service', failed: true, level: 'ERROR' }] });
    run('sh', '-c', `printf '${config}' > /etc/signalbox.json && chmod 644 /etc/signalbox.json`);
    run('sh', '-c', `mkdir ${folder} && printf '${text}' > ${folder}/profiles.conf && systemctl daemon-reload`);
    run('systemctl', 'reset-failed');
    run('systemd-run', '--unit=demo-broken', '--wait', 'sh', '-c', 'echo token=hunter2; exit 3', '--password=hunter2');
    // Looks at once, instead of once a minute.
    await restart(machine);
    const [raised] = await waitForAlerts(machine, 1);
    assert.deepEqual([raised?.message, raised?.status], ['demo-broken.service has failed', 'firing']);
    const { failedUnits, journal, processes } = await waitForSnapshot(machine);
    assert.deepEqual(failedUnits, ['demo-broken.service']);
    assert.ok(processes?.byMemory.some(({ user }) => user === 'signalbox'));
    const lines = journal?.map(({ source, text: line }) => `${source}: ${line}`) ?? [];
    assert.ok(lines.includes("systemd: demo-broken.service: Failed with result 'exit-code'."), lines.join('\n'));
    // It is in the journal, and so are the passwords that the server has made.
    const secrets = [...run('journalctl', '-o', 'cat').matchAll(/Password of \w+ for this run: (\S+)|(hunter2)/g)];
    assert.ok(secrets.length >= 3);
    for (const [, password, other = password] of secrets) {
      assert.ok(other && !lines.some((line) => line.includes(other)), `${other}: ${lines.join('\n')}`);
    }
    run('systemctl', 'stop', 'signalbox');
    run('systemctl', 'reset-failed', 'demo-broken');
    await restart(machine);
    const [, ended] = await waitForAlerts(machine, 2);
    assert.deepEqual([ended?.status, ended?.resolves], ['resolved', raised?.id]);
    assert.equal(ended?.message, 'Resolved: demo-broken.service has no longer failed');
  },
);

/** What the machine was doing when the first incident opened. */
const waitForSnapshot = async (machine: Machine): Promise<MachineSnapshot> => {
  const path = `${countStarts(machine).at(-1)}/api/incidents/1/snapshot`;
  const headers = { authorization: `Bearer ${signToken(createClaims())}` };
  let snapshot: MachineSnapshot | undefined;
  await waitUntil('there is a snapshot', async () => {
    const response = await fetch(path, { headers });
    if (response.ok) snapshot = (await response.json()) as MachineSnapshot;
    return response.ok;
  });
  return snapshot as MachineSnapshot;
};

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
