import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import type { WatchSettings } from '../schema.ts';
import type { WatchReadings } from '../watch-type.ts';
import { dnsWatch } from './dns.ts';

const create = (settings: object): WatchSettings => ({ type: 'dns', host: 'shop.test', ...settings }) as WatchSettings;

test('a name server has an address and a port from 1 to 65535', () => {
  const find = (server: string) => dnsWatch.findProblem?.(create({ server }));
  for (const server of ['192.0.2.53', '192.0.2.53:65535', '[2001:db8::53]:5353', '[2001:db8::53]'])
    assert.equal(find(server), undefined, server);
  assert.equal(find('192.0.2.53:65536'), 'the port of server must be 1 to 65535, not 65536');
  assert.equal(find('[2001:db8::53]:0'), 'the port of server must be 1 to 65535, not 0');
  assert.match(find('ns.test:53') ?? '', /^server must be the address/);
});

test('the text of a TXT record is expected with its case, and the name of a CNAME record is not', async (t) => {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.on('message', (query, { port, address }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const data = question.at(-3) === 16 ? Buffer.from('\x03Key') : Buffer.from('\x03Key\x04test\x00');
    // Response header, with one answer to the question: a pointer to the name, and a TTL of 60 s.
    const header = Buffer.concat([query.subarray(0, 2), Buffer.from('81800001000100000000', 'hex')]);
    const answer = [
      Buffer.from('c00c', 'hex'),
      question.subarray(-4),
      Buffer.from([0, 0, 0, 60, 0, data.length]),
      data,
    ];
    socket.send(Buffer.concat([header, question, ...answer]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const server = `127.0.0.1:${socket.address().port}`;
  const readings = { reach: { assertHost: () => undefined } } as unknown as WatchReadings;
  const look = async (record: string, expected: string) => {
    const settings = create({ server, record, expected });
    const [finding] = await dnsWatch.check(settings, readings, AbortSignal.timeout(5000));
    return finding?.words;
  };
  assert.equal(await look('TXT', 'Key'), 'shop.test TXT is Key');
  assert.equal(await look('TXT', 'key'), 'shop.test TXT is Key, not key');
  assert.equal(await look('CNAME', 'KEY.test.'), 'shop.test CNAME is Key.test');
});
