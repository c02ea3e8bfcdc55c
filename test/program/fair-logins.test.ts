import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { passwords } from '../support/app.ts';
import { createClient } from '../support/client.ts';
import { createFolder } from '../support/folder.ts';
import { amount } from '../support/long.ts';
import { startProgram } from '../support/program.ts';

const variables = {
  SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
  SIGNALBOX_READER_PASSWORD: passwords.reader,
};

/** Number of logins by the administrator during the attack. */
const logins = amount(20, 40);

// By default, only Linux has loopback addresses other than 127.0.0.1.
const skip = process.platform !== 'linux' && 'it needs other loopback addresses';

const start = async (t: TestContext) => {
  const { url } = await startProgram(t, ['--profiles', 'login', '--data-dir', createFolder(t)], { variables });
  const clientOf = (localAddress: string, connections = 8) => {
    const client = createClient(url, { localAddress, connections });
    t.after(client.close);
    return async (Username: string, Password: string): Promise<number> =>
      (await client.request('POST', '/api/auth/login', { body: { Username, Password } })).status;
  };
  return { clientOf };
};

/** Sends logins as fast as responses arrive, until `stop` is called. `stop` resolves to the number of logins. */
const loop = (senders: readonly (() => Promise<number>)[]) => {
  let isOver = false;
  let count = 0;
  const loops = senders.map(async (send) => {
    while (!isOver) {
      await send();
      count += 1;
    }
  });
  return async (): Promise<number> => {
    isOver = true;
    await Promise.all(loops);
    return count;
  };
};

const countAccepted = async (send: () => Promise<number>): Promise<number> => {
  let accepted = 0;
  for (let count = 0; count < logins; count += 1) accepted += Number((await send()) === 200);
  return accepted;
};

test('two addresses that repeat valid logins do not lock out an administrator at another address', {
  skip,
}, async (t) => {
  const { clientOf } = await start(t);
  const attackers = ['127.0.0.2', '127.0.0.3'].flatMap((address) => {
    const send = clientOf(address, 30);
    return Array.from({ length: 30 }, () => () => send('reader', passwords.reader));
  });
  const stop = loop(attackers);
  const admin = clientOf('127.0.0.4');
  const accepted = await countAccepted(() => admin('admin', passwords.admin));
  t.diagnostic(`${accepted} of ${logins} logins of the administrator, among ${await stop()} others`);
  assert.ok(accepted >= logins - 1, `${accepted} of ${logins}`);
});

test('guesses from many addresses do not lock out an administrator whose address has logged in before', {
  skip,
}, async (t) => {
  const { clientOf } = await start(t);
  const admin = clientOf('127.0.0.4');
  assert.equal(await admin('admin', passwords.admin), 200);
  let next = 0;
  const stop = loop(
    Array.from({ length: 40 }, () => async () => {
      next += 1;
      return clientOf(`127.1.${next >> 8}.${next & 255}`, 1)('admin', 'a guess');
    }),
  );
  const accepted = await countAccepted(() => admin('admin', passwords.admin));
  t.diagnostic(`${accepted} of ${logins} logins of the administrator, among ${await stop()} guesses`);
  assert.ok(accepted >= logins - 1, `${accepted} of ${logins}`);
});
