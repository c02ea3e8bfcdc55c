import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type LookupFunction, type Socket } from 'node:net';
import { test } from 'node:test';
import { sendAlert } from '../../../../test/support/alerts.ts';
import { startRefusal } from '../../../../test/support/app.ts';
import { writeCertificate } from '../../../../test/support/certificate.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import { findFreePort } from '../../../../test/support/free-port.ts';
import { createIncident, createResolution, createUpdate } from '../../../../test/support/incident-messages.ts';
import { type MailServer, refusal, startMailServer } from '../../../../test/support/mail-server.ts';
import { readState, startOutbox, waitUntilIdle } from '../../../../test/support/outbox.ts';
import { atEnd } from '../../../../test/support/scope.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { createReach } from '../../../kit/reach.ts';
import { createIncidentMessage, type IncidentUpdate } from '../message/message.ts';
import { toDestinationDefinition } from './definition.ts';
import { createMailTransport } from './smtp.ts';
import { openTransport } from './transport.ts';

type Scope = Parameters<typeof startMailServer>[0];

const parts = {
  publicUrl: 'https://signalbox.example.org',
  toAcknowledgeUrl: () => 'https://signalbox.example.org/api/acknowledge/t0ken',
  instance: 'signalbox/0123456789abcdef',
};

const mail = { name: 'mail', type: 'email', from: 'signalbox@example.org', to: ['anna@example.org'] };

/** Opens a transport to the server. The returned function sends messages and resolves to their outcomes. */
const open = async (t: Scope, url: string, settings: object = {}, isRuntimeSetting = false) => {
  const transport = await openTransport(
    toDestinationDefinition({ ...mail, url, ...settings }, isRuntimeSetting),
    1,
    () => new Date(),
  );
  atEnd(t, () => transport.close());
  return (...updates: IncidentUpdate[]) => transport.send(createIncidentMessage(updates, parts));
};

const lastOf = ({ mails }: MailServer) => mails.at(-1) ?? assert.fail();

test('an alert becomes a mail with text and HTML that triggers no automatic replies', async (t) => {
  const server = await startMailServer(t);
  const settings = {
    ...mail,
    from: 'Signal "box", Ä <signalbox@example.org>',
    to: ['a@example.org', 'B <b@example.org>'],
  };
  const app = await startOutbox(t, [{ ...settings, url: server.url }]);
  const message = 'the disk <b>is</b> "full" & é\n.\r\n..dots';
  const id = await sendAlert(app, { source: 'backup', level: 'CRITICAL', message, hostname: 'web-1' });
  await waitUntil('the mail has arrived', () => server.mails.length === 1);
  const { from, to, headers, text, html, raw } = lastOf(server);
  assert.deepEqual([from, to], ['signalbox@example.org', ['a@example.org', 'b@example.org']]);
  assert.equal(headers['subject'], 'CRITICAL backup on web-1');
  assert.match(headers['from'] ?? '', /<signalbox@example\.org>$/);
  assert.equal(headers['to'], 'a@example.org, B <b@example.org>');
  assert.equal(headers['message-id'], `<${id}@example.org>`);
  assert.equal(headers['auto-submitted'], 'auto-generated');
  assert.equal(headers['importance'], 'high');
  assert.equal(text, 'the disk <b>is</b> "full" & é\n.\n..dots');
  assert.match(html, /the disk &lt;b&gt;is&lt;\/b&gt; &quot;full&quot; &amp; é\r?\n\.\r?\n\.\.dots/);
  assert.match(raw, /^Content-Type: multipart\/alternative;/m);
  await waitUntilIdle(app, 'mail');
});

test('all mails about an incident are one thread, and a repeated mail has the same id', async (t) => {
  const server = await startMailServer(t);
  const tell = await open(t, server.url);
  const updates = [createUpdate(), createUpdate(), createUpdate({}, { what: 'raised' }), createResolution()];
  for (const one of updates) assert.equal((await tell(one)).outcome.kind, 'delivered');
  const ids = server.mails.map(({ headers }) => headers['message-id']);
  assert.equal(ids[0], ids[1]);
  assert.equal(new Set(ids).size, 3);
  const thread = `<incident.${createIncident().id}@example.org>`;
  for (const { headers } of server.mails)
    assert.deepEqual([headers['references'], headers['in-reply-to']], [thread, thread]);
  assert.equal(lastOf(server).headers['subject'], 'Resolved #412: disk full on db-1');
  const { text, html } = server.mails[0] ?? assert.fail();
  assert.ok(
    text.endsWith(`\n\nAcknowledge: ${parts.toAcknowledgeUrl()}\n\nOpen: ${parts.publicUrl}/console/#/incidents/412`),
  );
  assert.match(
    html,
    /<a href="https:\/\/signalbox\.example\.org\/api\/acknowledge\/t0ken" style="[^"]+">Acknowledge<\/a>/,
  );
  assert.equal(new Set(server.mails.map(({ session }) => session)).size, 1, 'one connection');
});

test('nothing of an incident becomes a header, a link or a script', async (t) => {
  const server = await startMailServer(t);
  const tell = await open(t, server.url);
  const title = `x\r\nBcc: eve@example.org\r\n\r\n<script>alert(1)</script>${'é'.repeat(400)}`;
  await tell(createUpdate({ title, hostname: 'a\nb', link: 'javascript:alert(1)' }));
  const { headers, html, to } = lastOf(server);
  assert.deepEqual(to, ['anna@example.org']);
  assert.equal(headers['bcc'], undefined);
  assert.match(headers['subject'] ?? '', /^CRITICAL #412 x Bcc: eve@example.org <script>alert\(1\)<\/script>é+…$/);
  assert.ok(Buffer.byteLength(headers['subject'] ?? '') <= 250);
  assert.doesNotMatch(html, /<script|href="javascript/);
});

/** Returns the outcome of sending a mail to a server with the given behaviour. */
const outcomeOf = async (t: Scope, options: Parameters<typeof startMailServer>[1], settings: object = {}) => {
  const server = await startMailServer(t, options);
  return (await (await open(t, server.url, settings))(createUpdate())).outcome;
};

const login = { user: 'signalbox', secret: 'pass word' };

test('signalbox logs in with the user and the secret', async (t) => {
  const server = await startMailServer(t, { passwords: { signalbox: 'p4ss' } });
  const tell = await open(t, server.url, { user: 'signalbox', secret: 'p4ss' });
  assert.equal((await tell(createUpdate())).outcome.kind, 'delivered');
  assert.equal(lastOf(server).user, 'signalbox');
});

test('the response of the server decides whether a mail is retried, refused or rejected', async (t) => {
  const recipient = (status: number, text: string) => ({ onRecipient: () => refusal(status, text) });
  const content = (status: number, text: string) => ({ onMail: () => refusal(status, text) });
  const wrong = { ...login, secret: 'wr0ng' };
  const cases: [Parameters<typeof startMailServer>[1], object, object][] = [
    [
      recipient(451, '4.7.1 greylisted, anna'),
      {},
      { kind: 'failed', reason: 'the mail server responded 451 4.7.1 to RCPT TO', seconds: 0, mayBeMessage: false },
    ],
    [
      content(451, 'try later'),
      {},
      { kind: 'failed', reason: 'the mail server responded 451 to DATA', seconds: 0, mayBeMessage: true },
    ],
    [
      recipient(550, '5.1.1 unknown user anna'),
      {},
      { kind: 'refused', reason: 'the mail server responded 550 5.1.1 to RCPT TO' },
    ],
    [content(552, '5.3.4 too big'), {}, { kind: 'refused', reason: 'the mail server responded 552 5.3.4 to DATA' }],
    [
      { passwords: { signalbox: 'p4ss' } },
      wrong,
      { kind: 'rejected', reason: 'the mail server responded 535 5.7.8 to the login' },
    ],
    [{}, wrong, { kind: 'rejected', reason: 'the mail server responded 500 to the login' }],
    [
      { passwords: { signalbox: 'p4ss' } },
      {},
      { kind: 'rejected', reason: 'the mail server responded 530 to MAIL FROM' },
    ],
    [
      { onMailFrom: (_from, _session, done) => done(refusal(553, '5.7.1 not your address')) },
      {},
      { kind: 'rejected', reason: 'the mail server responded 553 5.7.1 to MAIL FROM' },
    ],
    [
      { onConnect: (_session, done) => done(refusal(421, '4.3.2 busy')) },
      {},
      { kind: 'failed', reason: 'the mail server responded 421 4.3.2', seconds: 0, mayBeMessage: false },
    ],
    [
      { onConnect: (_session, done) => done(refusal(554, '5.7.1 blocked')) },
      {},
      { kind: 'rejected', reason: 'the mail server responded 554 5.7.1' },
    ],
  ];
  for (const [options, settings, expected] of cases) assert.deepEqual(await outcomeOf(t, options, settings), expected);
});

test('TLS is required unless the server is on this machine, and needs a valid certificate', async (t) => {
  const files = writeCertificate(createFolder(t), 'mail');
  const [key, cert] = [readFileSync(files.key), readFileSync(files.cert)];
  const required = { tls: 'required' };
  assert.deepEqual(await outcomeOf(t, {}, required), {
    kind: 'rejected',
    reason: 'TLS with the mail server failed (500)',
  });
  const invalid = await outcomeOf(t, { hasStartTls: true, key, cert }, required);
  assert.equal(invalid.kind, 'rejected');
  assert.match((invalid as { reason: string }).reason, /^TLS with the mail server failed \(/);
  const server = await startMailServer(t, { secure: true, key, cert });
  for (const isRuntimeSetting of [false, true]) {
    const { outcome } = await (await open(t, `smtps://127.0.0.1:${server.port}`, {}, isRuntimeSetting))(createUpdate());
    assert.equal(outcome.kind, 'rejected');
    assert.match((outcome as { reason: string }).reason, /^TLS with the mail server failed \(/);
  }
  assert.equal(server.mails.length, 0);
});

test('a mail server with a certificate of an unknown CA gets no mail until a setting changes', async (t) => {
  const files = writeCertificate(createFolder(t), 'mail', undefined, 'unknown CA');
  const [key, cert] = [readFileSync(files.key), readFileSync(files.cert)];
  assert.deepEqual(await outcomeOf(t, { hasStartTls: true, key, cert }, { tls: 'required' }), {
    kind: 'rejected',
    reason: 'TLS with the mail server failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
  });
});

for (const [response, expected] of [
  ['502 5.5.1 no EHLO', { kind: 'rejected', reason: 'TLS with the mail server failed (502)' }],
  [
    '421 4.3.2 busy',
    { kind: 'failed', reason: 'the mail server responded 421 4.3.2 to EHLO', seconds: 0, mayBeMessage: false },
  ],
] as const) {
  test(`with required TLS, a server that responds ${response} to EHLO makes the mail ${expected.kind}`, async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('220 hello\r\n');
      socket.on('data', () => socket.end(`${response}\r\n`));
    }).listen(0, '127.0.0.1');
    atEnd(t, () => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { outcome } = await (await open(t, `smtp://127.0.0.1:${port}`, { tls: 'required' }))(createUpdate());
    assert.deepEqual(outcome, expected);
  });
}

test('an unreachable or unknown server is retried', async (t) => {
  const port = await findFreePort();
  const refused = (await (await open(t, `smtp://127.0.0.1:${port}`))(createUpdate())).outcome;
  assert.deepEqual(refused, {
    kind: 'failed',
    reason: 'the connection to the mail server was refused',
    seconds: 0,
    mayBeMessage: false,
  });
  const unknown = (await (await open(t, 'smtp://unknown.invalid', { tls: 'none' }))(createUpdate())).outcome;
  assert.equal(unknown.kind, 'failed');
  assert.match((unknown as { reason: string }).reason, /host name of the mail server is unknown|in time/);
});

/** Starts a server that speaks SMTP until DATA, then calls `after` with the connection. */
const startBrokenServer = async (t: Scope, after: (socket: Socket) => void): Promise<string> => {
  const server = createServer((socket) => {
    let isData = false;
    socket.on('error', () => undefined);
    socket.write('220 broken\r\n');
    socket.on('data', (chunk) => {
      if (isData) {
        if (chunk.toString().includes('\r\n.\r\n')) after(socket);
        return;
      }
      for (const line of chunk.toString().trim().split('\r\n')) {
        isData = line === 'DATA';
        socket.write(isData ? '354 go on\r\n' : '250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => void server.close());
  return `smtp://127.0.0.1:${(server.address() as { port: number }).port}`;
};

test('a mail counts as the possible cause if the connection breaks or stalls after it', async (t) => {
  const cut = await open(t, await startBrokenServer(t, (socket) => socket.destroy()));
  assert.deepEqual((await cut(createUpdate())).outcome, {
    kind: 'failed',
    reason: 'the connection to the mail server was closed',
    seconds: 0,
    mayBeMessage: true,
  });
});

test('a mail server created at run time is reached by its name, but not at a cloud metadata address', async (t) => {
  const server = await startMailServer(t);
  const { receiver } = toDestinationDefinition({ ...mail, url: `smtp://localhost:${server.port}` }, true);
  const sendTo = async (address: string) => {
    const resolve: LookupFunction = (_host, _options, callback) => callback(null, [{ address, family: 4 }]);
    const transport = createMailTransport(receiver, 5, createReach([], resolve).lookup);
    atEnd(t, () => transport.close());
    return transport.send(createIncidentMessage([createUpdate()], parts));
  };
  assert.deepEqual((await sendTo('127.0.0.1')).outcome, { kind: 'delivered' });
  const { outcome, reply } = await sendTo('169.254.169.254');
  assert.deepEqual([outcome.kind, reply], ['rejected', 'localhost is not allowed by watchTargets']);
});

test('a mail takes no longer than its limit, even with a slow server', async (t) => {
  const drip = (socket: Socket): void => {
    const timer = setInterval(() => socket.write('250-wait\r\n'), 50);
    socket.on('close', () => clearInterval(timer));
  };
  for (const behave of [() => undefined, drip]) {
    const { receiver } = toDestinationDefinition({ ...mail, url: await startBrokenServer(t, behave) });
    const transport = createMailTransport(receiver, 0.3);
    const message = createIncidentMessage([createUpdate()], parts);
    assert.deepEqual((await transport.send(message)).outcome, {
      kind: 'failed',
      reason: 'the mail server did not respond in time',
      seconds: 0,
      mayBeMessage: true,
      isUnanswered: true,
    });
    await transport.close();
  }
  const silent = createServer();
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  const { receiver } = toDestinationDefinition({ ...mail, url: `smtp://127.0.0.1:${port}` });
  const message = createIncidentMessage([createUpdate()], parts);
  assert.deepEqual((await createMailTransport(receiver, 0.3).send(message)).outcome, {
    kind: 'failed',
    reason: 'the mail server did not respond in time',
    seconds: 0,
    mayBeMessage: false,
  });
  silent.close();
});

test('a connection that the server has closed in the meantime does not count as a failed attempt', async (t) => {
  let sockets: Socket[] = [];
  const server = await startMailServer(t);
  const proxy = createServer((socket) => {
    const upstream = connect(server.port, '127.0.0.1');
    sockets = [...sockets, socket];
    socket.pipe(upstream).pipe(socket);
    for (const one of [socket, upstream]) one.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => void proxy.close());
  const tell = await open(t, `smtp://127.0.0.1:${(proxy.address() as { port: number }).port}`);
  assert.equal((await tell(createUpdate())).outcome.kind, 'delivered');
  for (const socket of sockets) socket.destroy();
  assert.equal((await tell(createResolution())).outcome.kind, 'delivered');
  assert.equal(server.mails.length, 2);
});

test('recipients who accepted a mail do not get it again when it is retried for others', async (t) => {
  let refusals: Record<string, Error> = { 'ben@example.org': refusal(451, '4.7.1 greylisted') };
  const server = await startMailServer(t, { onRecipient: (address) => refusals[address] });
  const tell = await open(t, server.url, { to: ['anna@example.org', 'ben@example.org', 'carl@example.org'] });
  assert.equal((await tell(createUpdate())).outcome.kind, 'failed');
  refusals = { 'ben@example.org': refusal(550, '5.1.1 unknown') };
  assert.equal((await tell(createUpdate())).outcome.kind, 'refused');
  refusals = {};
  assert.equal((await tell(createUpdate())).outcome.kind, 'delivered');
  assert.deepEqual(
    server.mails.map(({ to }) => to),
    [['anna@example.org', 'carl@example.org'], ['ben@example.org']],
  );
});

test('a greylisted alert is delivered later, and an alert that is too large is given up', async (t) => {
  let first = true;
  const server = await startMailServer(t, {
    onRecipient: () => {
      const isGrey = first;
      first = false;
      return isGrey ? refusal(451, '4.7.1 greylisted') : undefined;
    },
    onMail: ({ text }) => (text.includes('large') ? refusal(552, '5.3.4 too big') : undefined),
  });
  const app = await startOutbox(t, [{ ...mail, url: server.url, retrySeconds: [0, 0] }]);
  await sendAlert(app, { message: 'small' });
  await waitUntil('the mail has arrived', () => server.mails.length === 1);
  await waitUntilIdle(app, 'mail');
  await sendAlert(app, { message: 'large' });
  await waitUntil('the alert is given up', async () => (await readState(app, 'mail')).parked === 1);
  const { parkedAlerts } = await readState(app, 'mail');
  assert.equal(parkedAlerts[0]?.reason, 'the mail server responded 552 5.3.4 to DATA');
});

test('an invalid destination is refused on startup with instructions', async (t) => {
  const cases: [settings: object, problem: RegExp][] = [
    [{ url: 'http://h' }, /url must begin with smtp:\/\/ or smtps:\/\/ and name a host/],
    [{ from: undefined }, /type email needs from and to/],
    [{ to: ['anna'] }, /"anna" is not an address such as anna@example\.org/],
    [{ from: 'a@example.org\r\nBcc: e@example.org' }, /is not an address/],
    [{ to: ['Anna <anna@example.org'] }, /is not an address/],
    [{ user: 'a' }, /user needs a password/],
    [{ secret: 'x' }, /password of a user: set user/],
    [{ token: 'x' }, /does not use token and headers/],
    [{ url: 'smtp://mail.example.org/inbox' }, /only a host and a port/],
    [{ ...login, tls: 'none' }, /would send the password unencrypted/],
    [{ type: 'ntfy', url: 'http://h' }, /type ntfy has no setting from/],
  ];
  for (const [settings, problem] of cases) {
    const destination = { ...mail, url: 'smtp://mail.example.org', ...settings };
    assert.match(await startRefusal(t, { settings: { destinations: [destination] } }), problem);
  }
});
