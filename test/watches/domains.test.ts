import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWatch, tryWatch, waitForAlerts } from './support/watches.ts';

const day = 86_400_000;

const toDocument = (end: string) =>
  JSON.stringify({
    objectClassName: 'domain',
    events: [
      { eventAction: 'registration', eventDate: '2001-01-01T00:00:00Z' },
      { eventAction: 'expiration', eventDate: end },
    ],
  });

test('a domain whose registration expires soon, has expired or is missing raises an alert', async (t) => {
  const documents: Record<string, string> = {
    'long.example': toDocument(new Date(Date.now() + 400.5 * day).toISOString()),
    'soon.example': toDocument(new Date(Date.now() + 9.5 * day).toISOString()),
    'past.example': toDocument('2020-05-05T00:00:00Z'),
    'late.example': toDocument('9999-12-31T23:59:59Z'),
    'xn--bcher-kva.example': toDocument(new Date(Date.now() + 100.5 * day).toISOString()),
  };
  const rdap = await startReceiver(t, (response, { path }) => {
    const [, name = ''] = /^\/rdap\/domain\/(.*)$/.exec(path) ?? [];
    const found = documents[name];
    if (found === undefined) response.writeHead(404).end('{"errorCode":404}');
    else response.writeHead(200, { 'content-type': 'application/rdap+json' }).end(found);
  });
  const app = await startApp(t);
  const token = await app.login('admin');
  const server = `${rdap.url}/rdap`;
  const look = async (domain: string) => {
    const [thing] = await tryWatch(app, token, { type: 'domain', domain, server });
    return [thing?.state, thing?.text] as const;
  };
  const [state, text] = await look('long.example');
  assert.equal(state, 'ok');
  assert.match(text ?? '', /^long\.example is registered for 400 days, until 20\d\d-\d\d-\d\d$/);
  assert.equal((await look('bücher.example.'))[0], 'ok');
  assert.match((await look('late.example'))[1] ?? '', /^late\.example is registered for 29\d{5} days, until /);
  assert.deepEqual(await look('past.example'), ['pending', 'past.example expired on 2020-05-05']);
  assert.deepEqual(await look('none.example'), ['pending', 'none.example is not registered']);
  assert.match(rdap.requests[0]?.headers.accept ?? '', /application\/rdap\+json/);
  await createWatch(app, token, { name: 'soon', type: 'domain', domain: 'soon.example', server, critical: 10 });
  const [alert] = await waitForAlerts(app, 1);
  assert.equal(alert?.level, 'CRITICAL');
  assert.match(alert?.message ?? '', /^soon: soon\.example is registered for 9 days, until .*, limit 10 days$/);
});

test('a domain cannot be checked if its registry gives no usable response, and invalid names are refused', async (t) => {
  const rdap = await startReceiver(t);
  const app = await startApp(t, { settings: { watchTargets: ['127.0.0.1'] } });
  const token = await app.login('admin');
  const { host } = new URL(rdap.url);
  const look = async (server: object) => {
    const [thing] = await tryWatch(app, token, { type: 'domain', domain: 'shop.example', ...server });
    assert.equal(thing?.state, 'cannot check', thing?.text);
    return thing?.text;
  };
  for (const [status, body, words] of [
    [429, '', `${host} responded 429`],
    [200, '<html>', `${host} does not report the expiry date of shop.example`],
    [
      200,
      '{"events":[7,{"eventAction":"expiration","eventDate":"soon"}]}',
      `${host} does not report the expiry date of shop.example`,
    ],
    [200, `{"events":[${'7,'.repeat(1024 * 1024)}7]}`, `${host} does not report the expiry date of shop.example`],
  ] as const) {
    rdap.behave((response) => void response.writeHead(status).end(body));
    assert.equal(await look({ server: rdap.url }), words);
  }
  await rdap.close();
  assert.equal(await look({ server: rdap.url }), `the request to ${host} failed: the connection was refused`);
  // The list of IANA is not among the targets.
  const words = 'the request to data.iana.org failed: data.iana.org is not allowed by watchTargets';
  assert.equal((await look({}))?.replace(/the (host name|name server).*/, words.slice(37)), words);
  for (const body of [
    { domain: 'localhost' },
    { domain: '../x.example' },
    ...['a.b?c', 'a.b#c', 'a.b\\c', 'a%2eb.c', 'a.b:80'].map((domain) => ({ domain })),
    { domain: 'a.example', server: 'ftp://x' },
  ]) {
    const refused = await app.request('POST', '/api/watches/test', {
      token,
      body: { name: 'x', type: 'domain', ...body },
    });
    assert.equal(refused.status, 400, JSON.stringify(body));
  }
});
