import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { atEnd } from '../../../../test/support/scope.ts';
import { openReach } from '../../../kit/reach.ts';
import { PhaseClock } from './phases.ts';
import { openSocket } from './socket.ts';

test('a check that times out before it connects opens no connection', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  atEnd(t, () => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const access = { reach: openReach(['127.0.0.1']), clock: new PhaseClock(), authorities: [] };
  const opening = openSocket({ host: '127.0.0.1', port }, { isTls: false }, access, AbortSignal.abort());
  await assert.rejects(
    opening.then((socket) => socket.destroy()),
    /no response was received in time/,
  );
});
