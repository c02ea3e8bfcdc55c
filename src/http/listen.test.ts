import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { pino } from 'pino';
import { loadSettings } from '../config/load.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { createProxyCheck, createServer, listAddresses, listenOn } from './server.ts';

test('localhost resolves to all its addresses, and any other host is used as given', async () => {
  assert.ok((await listAddresses('LocalHost')).includes('127.0.0.1'));
  assert.deepEqual(await listAddresses('box.example'), ['box.example']);
});

test('a second address is served and closed with the first, and an unavailable one is skipped', async () => {
  const settings = loadSettings(createSettingsSchema([]), {}, {});
  const log = pino({ level: 'silent' });
  const app = createServer({ ...settings, log, machine: 'test' });
  const { address, port } = await listenOn(app, ['127.0.0.1', '127.0.0.2', '192.0.2.1'], 0, log);
  assert.equal(address, '127.0.0.1');
  for (const host of ['127.0.0.1', '127.0.0.2']) {
    const socket = connect(port, host).setEncoding('latin1');
    socket.write('hello\r\n\r\n');
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 400 .*\{"error":"Bad Request"\}$/s, host);
    socket.destroy();
  }
  const silent = connect(port, '127.0.0.2').resume();
  await once(silent, 'connect');
  await Promise.all([app.close(), once(silent, 'close')]);
  const [error] = await once(connect(port, '127.0.0.2'), 'error');
  assert.equal(error.code, 'ECONNREFUSED');
});

test('addresses and blocks of both families are trusted, also when IPv4 is mapped into IPv6', () => {
  const isProxy = createProxyCheck(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32', '::1']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::5', '::1']) {
    assert.equal(isProxy(address), true, address);
  }
  for (const address of ['10.2.0.1', '192.0.2.8', '::ffff:192.0.2.8', '2001:db9::1', '::2', 'x', '', undefined]) {
    assert.equal(isProxy(address), false, address);
  }
});

test('without trusted proxies, no address is trusted', () => {
  assert.equal(createProxyCheck([])('127.0.0.1'), false);
});
