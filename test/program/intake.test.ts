import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { runCommand } from '../support/program.ts';
import { startReloadable } from '../support/reload.ts';

const builds = { name: 'builds', match: { '/kind': 'build' }, message: 'Build {/id}', key: '{/id}' };

test('test-intake prints the alert that a format of the config file makes from a body, or the reason for a refusal', async (t) => {
  const path = writeConfig(createFolder(t), { intake: [builds] });
  const run = (name: string, input: string) => runCommand(['test-intake', name, '--config', path], { input });
  const { code, stdout, stderr } = await run('builds', '{"kind": "build", "id": 7}');
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(JSON.parse(stdout), [
    {
      source: 'builds',
      level: 'WARNING',
      message: 'Build 7',
      hostname: 'unknown',
      status: 'firing',
      key: '7',
      labels: {},
      link: null,
    },
  ]);
  const refused = await run('builds', '{"kind": "push"}');
  assert.deepEqual([refused.code, refused.stdout], [1, 'refused: /kind must be "build"\n']);
  const broken = await run('builds', '{');
  assert.deepEqual(
    [broken.code, broken.stderr],
    [1, 'signalbox: standard input must be a request body of the sender, in JSON\n'],
  );
  const unknown = await run('other', '{}');
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [1, 'signalbox: there is no intake format "other"; the settings define: builds\n'],
  );
});

test('SIGHUP applies changed formats, and keeps the old formats if the new ones are unusable', async (t) => {
  const { request, reload } = await startReloadable(t, { intake: [builds] });
  const statusOf = async (name: string) =>
    (await request('POST', `/api/alert/${name}`, { body: { kind: 'build', id: 1 } })).status;
  assert.deepEqual([await statusOf('builds'), await statusOf('other')], [200, 404]);
  await reload({ intake: [{ ...builds, name: 'other' }] });
  assert.deepEqual([await statusOf('builds'), await statusOf('other')], [404, 200]);
  await reload({ intake: [{ ...builds, message: '{x}' }] }, '"msg":"settings not reloaded');
  assert.deepEqual([await statusOf('builds'), await statusOf('other')], [404, 200]);
});
