import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { startApp } from '../support/app.ts';
import { findFreePort } from '../support/free-port.ts';
import { runCommand } from '../support/program.ts';
import { notReloaded, startReloadable } from '../support/reload.ts';

/** Starts a server with a rotation. Returns functions that run commands with a key for overrides. */
const start = async (t: TestContext, members: readonly string[] = ['anna', 'ben', 'carl']) => {
  const { key, entry } = createAccessKey('oncall', ['incidents:write']);
  const settings = {
    access: 'login',
    keys: [entry],
    destinations: members.map((name) => ({
      name,
      type: 'webhook',
      url: 'http://127.0.0.1:9/',
      notify: 'incidents',
    })),
    rotations: members.length > 0 ? [{ name: 'oncall', members, handover: '0 9 * * 1' }] : [],
  };
  const server = await startApp(t, { settings });
  return (args: string[], variables: Record<string, string> = {}) =>
    runCommand(['oncall', ...args], { variables: { SIGNALBOX_URL: server.url, SIGNALBOX_KEY: key, ...variables } });
};

const time = '[A-Z][a-z]{2} \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d';

test('oncall prints who is on call, until when, and who follows', async (t) => {
  const run = await start(t);
  const { code, stdout, stderr } = await run([]);
  assert.deepEqual([code, stderr], [0, '']);
  const [head = '', row = '', ...rest] = stdout.split('\n');
  assert.match(head, /^ROTATION +ON CALL +UNTIL +NEXT +OVERRIDE$/);
  assert.match(row, /^oncall +(anna|ben|carl) +Mon \d{4}-\d\d-\d\d 09:00 +(anna|ben|carl)$/);
  assert.deepEqual(rest, ['']);
  const [, now, next] = /^oncall +(\w+) .* (\w+)$/.exec(row) ?? [];
  assert.match((await run(['--at', '7d'])).stdout, new RegExp(`^oncall +${next} `, 'm'));
  const json = JSON.parse((await run(['--json'])).stdout) as { member: string; next: { member: string } };
  assert.deepEqual([json.member, json.next.member], [now, next]);
});

test('oncall --next-week lists the shifts of the next week from Monday on', async (t) => {
  const run = await start(t);
  const { code, stdout } = await run(['--next-week']);
  assert.equal(code, 0);
  const [head = '', first = '', second = '', ...rest] = stdout.split('\n');
  assert.match(head, /^ROTATION +ON CALL +FROM +UNTIL$/);
  const [, begin, end] = new RegExp(`^oncall +\\w+ +(${time}) +(${time})$`).exec(first) ?? [];
  assert.match(`${begin} ${end}`, /^Mon .* 09:00 Mon .* 09:00$/);
  assert.match(second, new RegExp(`^oncall +\\w+ +${end} +${time}$`));
  assert.deepEqual(rest, ['']);
});

test('oncall --override puts another member on call until a time', async (t) => {
  const run = await start(t);
  const created = await run(['--override', 'oncall=carl', '--until', '2h', '-m', 'swapped\nwith Anna']);
  assert.deepEqual([created.code, created.stderr], [0, '']);
  assert.match(created.stdout, new RegExp(`^carl is on call in oncall from ${time} until ${time}\n$`));
  assert.match((await run([])).stdout, /^oncall +carl +.* +key:oncall swapped with Anna$/m);
  // Version 1.1 had --at instead of --from.
  for (const flag of ['--from', '--at']) {
    const later = await run(['--override', 'oncall=ben', flag, '10d', '--until', '11d', '--json']);
    const { startsAt, endsAt } = JSON.parse(later.stdout) as { startsAt: string; endsAt: string };
    assert.equal(Math.round((Date.parse(endsAt) - Date.parse(startsAt)) / 3_600_000), 24);
  }
});

test('oncall --next-month lists the shifts of the next calendar month, overrides with their ids', async (t) => {
  const run = await start(t);
  const month = new Date();
  month.setDate(1);
  month.setMonth(month.getMonth() + 1);
  const name = `${month.getFullYear()}-${`${month.getMonth() + 1}`.padStart(2, '0')}`;
  const override = ['--override', 'oncall=ben', '--from', `${name}-10T10:00:00Z`, '--until', `${name}-10T12:00:00Z`];
  const created = await run([...override, '--json']);
  assert.deepEqual([created.code, created.stderr], [0, '']);
  const { code, stdout } = await run(['--next-month']);
  assert.equal(code, 0);
  const rows = stdout.trimEnd().split('\n').slice(1);
  assert.ok(rows.length >= 6 && rows.length <= 9, stdout);
  assert.match(rows.at(-1) ?? '', new RegExp(`${name}-\\d\\d 09:00`));
  const { id } = JSON.parse(created.stdout) as { id: string };
  assert.match(stdout, new RegExp(`^oncall +ben +.* override ${id.slice(0, 13)}$`, 'm'));
});

test('oncall --end ends the current override, or the override with an id', async (t) => {
  const run = await start(t);
  const none = await run(['--end', 'oncall']);
  assert.deepEqual([none.code, none.stderr], [1, 'signalbox: rotation oncall has no override now\n']);
  await run(['--override', 'oncall=carl', '--until', '2h', '-m', 'ill']);
  const later = await run(['--override', 'oncall=ben', '--from', '10d', '--until', '11d', '--json']);
  const ended = await run(['--end', 'oncall']);
  assert.deepEqual([ended.code, ended.stdout], [0, 'ended the override of oncall by carl\n']);
  assert.ok(!(await run([])).stdout.includes('ill'));
  const { id } = JSON.parse(later.stdout) as { id: string };
  assert.deepEqual((await run(['--end', id.slice(0, 23)])).stdout, 'ended the override of oncall by ben\n');
  const unknown = await run(['--end', 'nowhere']);
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'signalbox: there is no override nowhere\n']);
});

test('oncall has an exit code each for a server without rotations, a refusal and an unreachable server', async (t) => {
  const run = await start(t, []);
  assert.match((await run([])).stdout, /^No rotations\.\n$/);
  assert.match((await run(['--next-week'])).stdout, /^No rotations\.\n$/);
  const refused = await run(['--override', 'night=ben', '--until', '2h']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /responded 400: There is no rotation "night"; the rotations are: none/);
  const anonymous = await run([], { SIGNALBOX_KEY: '' });
  assert.equal(anonymous.code, 1);
  assert.match(anonymous.stderr, /responded 401: Missing token; set SIGNALBOX_KEY to a key/);
  const away = await run([], { SIGNALBOX_URL: `http://127.0.0.1:${await findFreePort()}` });
  assert.equal(away.code, 75);
});

test('on SIGHUP rotations are read again, and invalid ones change nothing', async (t) => {
  const destinations = ['anna', 'ben'].map((name) => ({
    name,
    type: 'webhook',
    url: 'http://127.0.0.1:9/',
    notify: 'incidents',
  }));
  const toSettings = (members: string[]) => ({
    destinations,
    rotations: [{ name: 'oncall', members, handover: '0 9 * * 1' }],
  });
  const { url, reload, output } = await startReloadable(t, toSettings(['anna']));
  const read = async () => {
    const { data } = (await (await fetch(`${url}/api/oncall`)).json()) as { data: { member: string }[] };
    return data.map(({ member }) => member);
  };
  assert.deepEqual(await read(), ['anna']);
  await reload(toSettings(['ben']));
  assert.deepEqual(await read(), ['ben']);
  await reload(toSettings(['zed']), notReloaded);
  assert.match(output.stderr, /rotation .*oncall.*: there is no destination .*zed/);
  assert.deepEqual(await read(), ['ben']);
});
