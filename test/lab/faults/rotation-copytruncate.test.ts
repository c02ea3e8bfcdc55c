import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { rounds } from '../../support/long.ts';
import { finish, startBusy, waitForAlerts } from './support/busy.ts';
import type { Acknowledged } from './support/clients.ts';
import { compare, readLines } from './support/compare.ts';
import { createLogrotate } from './support/logrotate.ts';
import { listFiles, readEverything } from './support/moved-files.ts';
import { requires } from './support/requirements.ts';

const needs = requires({ programs: ['logrotate'] });

/**
 * Checks that copytruncate loses only what was written between its copy and its truncation. Alerts that were
 * acknowledged before the copy, or sent after the truncation, must be present. An alert that was copied before its
 * acknowledgement and then truncated is written again: both the copy and the log contain it, but no file contains it
 * twice.
 */
test('logrotate with copytruncate loses only alerts that are acknowledged while it runs', needs, async (t) => {
  const busy = await startBusy(t);
  const { folder, file, clients, dataDir } = busy;
  const rotate = createLogrotate(folder, file, 'copytruncate');
  const unsafe = new Set<string>();
  const count = rounds(8, 300);
  for (let round = 0; round < count; round++) {
    await waitForAlerts(clients);
    const before = clients.acknowledged.map(({ length }) => length);
    await rotate();
    const during = clients.acknowledged.map(({ length }) => length);
    await waitForAlerts(clients);
    // One more alert may have been in progress at the end.
    for (const [client, list] of clients.acknowledged.entries())
      noteMessages(unsafe, list.slice(before[client], (during[client] ?? 0) + 1));
  }
  await waitForAlerts(clients);
  const acknowledged = await finish(busy);
  const verdict = compare(acknowledged, readEverything(dataDir));
  t.diagnostic(
    `rotation, logrotate with copytruncate: ${count} rounds, ${verdict.acknowledged} acknowledged, ` +
      `${verdict.lost.length} of ${unsafe.size} lost that were acknowledged while it ran, ` +
      `${verdict.duplicated.length} both in a copy and in the log`,
  );
  assert.deepEqual(
    verdict.lost.filter((message) => !unsafe.has(message)),
    [],
  );
  for (const name of listFiles(dataDir)) {
    assert.deepEqual(compare(acknowledged, readLines(join(dataDir, name))).duplicated, [], name);
  }
});

const noteMessages = (messages: Set<string>, list: Acknowledged[]): void => {
  for (const { message } of list) messages.add(message);
};
