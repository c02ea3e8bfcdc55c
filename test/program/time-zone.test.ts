import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { refusal, startProgram } from '../support/program.ts';

/** Minutes by which the local times of a program with these settings are ahead of UTC. */
const measure = (time: string): number => Math.round((Date.parse(`${time}Z`) - Date.now()) / 60_000) + 0;

test('the setting timeZone is the zone of all local times, whatever the store and the variable TZ', async (t) => {
  for (const [zone, minutes, store] of [
    ['Asia/Kolkata', 330, 'memory'],
    ['asia/tokyo', 540, 'file'],
    ['UTC', 0, 'memory'],
  ] as const) {
    const flags = ['--time-zone', zone, '--store', store, '--data-dir', createFolder(t)];
    const { request, stop } = await startProgram(t, flags, { variables: { TZ: 'America/New_York' } });
    const { json } = await request('POST', '/api/tasks', { body: { Title: 'x' } });
    assert.equal(measure(String(json['CreatedAt'])), minutes, `${zone} ${store}`);
    await stop();
  }
  const { request } = await startProgram(t, [], { variables: { TZ: 'Asia/Kolkata' } });
  const { json } = await request('POST', '/api/tasks', { body: { Title: 'x' } });
  assert.equal(measure(String(json['CreatedAt'])), 330);
});

test('a time zone that does not exist is refused in one line', async () => {
  for (const zone of ['Europe/Berlinn', '+01:00', 'nowhere']) {
    const problem = `timeZone must be a name such as Europe/Berlin or UTC, not "${zone}"`;
    assert.equal(await refusal(['--time-zone', zone], 1), problem);
  }
});
