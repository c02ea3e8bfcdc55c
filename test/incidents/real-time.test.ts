import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeConfig } from '../support/config-file.ts';
import { passwords, secret } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { isLong } from '../support/long.ts';
import { readNotificationTexts, toIncidentDestination } from '../support/notifications.ts';
import { type Running, startProgram } from '../support/program.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { waitUntil } from '../support/wait.ts';

/** Minutes in the settings. The long form uses realistic values. */
const after = isLong ? 1 : 0.03;
const repeat = isLong ? 0.75 : 0.025;
const patienceMs = 150_000;

for (const kills of [false, true]) {
  const name = kills ? 'with kill -9 between all steps, ' : '';
  test(`in real time, ${name}an incident notifies, reminds, escalates, is acknowledged from its notification, and its resolution notifies both`, async (t) => {
    const begun = performance.now();
    const say = (text: string): void =>
      t.diagnostic(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}`);
    const [anna, ben] = await Promise.all(
      ['anna', 'ben'].map((who) =>
        startReceiver(t, (response, { body }) => {
          for (const message of readNotificationTexts(body)) say(`${who} is notified: ${message}`);
          response.end();
        }),
      ),
    );
    assert.ok(anna && ben);
    const port = await findFreePort();
    const folder = createFolder(t);
    const url = `http://127.0.0.1:${port}`;
    const config = writeConfig(folder, {
      publicUrl: url,
      destinations: [
        toIncidentDestination(anna, { name: 'anna', repeat }),
        toIncidentDestination(ben, { name: 'ben', after }),
      ],
    });
    let program: Running | undefined;
    const start = async (): Promise<void> => {
      const flags = ['--port', String(port), '--data-dir', join(folder, 'data'), '--config', config];
      program = await startProgram(t, flags, {
        bundled: true,
        variables: {
          SIGNALBOX_JWT_SECRET: secret,
          SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
          SIGNALBOX_READER_PASSWORD: passwords.reader,
        },
      });
    };
    const kill = async (): Promise<void> => {
      if (!kills) return;
      await program?.stop('SIGKILL');
      say('kill -9, and a start');
      await start();
    };
    const post = async (address: string, body?: object): Promise<void> => {
      const answer = await fetch(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${signToken(createClaims())}` },
        ...(body && { body: JSON.stringify(body) }),
      });
      assert.ok(answer.ok, `${address}: ${answer.status} ${await answer.text()}`);
    };
    const listTypes = ({ requests }: { requests: Received[] }): string[] => [
      ...new Set(requests.flatMap(({ body }) => readNotificationTexts(body)).map((text) => text.split(' ')[0] ?? '')),
    ];
    /** Counts reminders. A message that is sent again after a kill keeps its id. */
    const countReminders = (): number => {
      const sent = anna.requests.filter(({ body }) =>
        readNotificationTexts(body).some((text) => text.startsWith('reminder')),
      );
      return new Set(sent.map(({ headers }) => headers['webhook-id'])).size;
    };
    await start();
    await post(`${url}/api/alert`, { key: 'disk', level: 'CRITICAL', source: 'backup', message: 'disk is full' });
    await waitUntil('anna is notified', () => listTypes(anna).includes('opened'), patienceMs);
    await kill();
    await waitUntil('anna is reminded', () => countReminders() >= 1, patienceMs);
    await kill();
    await waitUntil('ben is notified after the escalation', () => listTypes(ben).includes('opened'), patienceMs);
    await kill();
    await waitUntil('anna is reminded again', () => countReminders() >= 2, patienceMs);
    const { data } = JSON.parse(ben.requests[0]?.body ?? '') as { data: { acknowledgeUrl: string } };
    await post(data.acknowledgeUrl);
    say('ben has acknowledged it');
    const reminders = countReminders();
    await kill();
    await post(`${url}/api/alert`, {
      key: 'disk',
      level: 'CRITICAL',
      source: 'backup',
      status: 'resolved',
      message: 'disk is full',
    });
    await waitUntil(
      'both are notified of the resolution',
      () => [anna, ben].every((who) => listTypes(who).includes('resolved')),
      patienceMs,
    );
    assert.deepEqual(listTypes(anna), ['opened', 'reminder', 'resolved']);
    assert.deepEqual(listTypes(ben), ['opened', 'resolved']);
    assert.ok(countReminders() <= reminders + 1);
    const { json } = (await program?.request('GET', '/api/incidents/1')) ?? {};
    const { timeline = [] } = json as {
      timeline?: { at: string; type: string; destination: string | null; result: string | null }[];
    };
    for (const { at, type, destination, result } of timeline) {
      say([at, type, destination, result].filter((part) => part !== null).join(' '));
    }
  });
}
