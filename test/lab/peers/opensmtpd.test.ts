import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toDestinationDefinition } from '../../../src/features/notifications/destinations/definition.ts';
import { openTransport } from '../../../src/features/notifications/destinations/transport.ts';
import { createIncidentMessage, type IncidentUpdate } from '../../../src/features/notifications/message/message.ts';
import { createFolder } from '../../support/folder.ts';
import { createResolution, createUpdate } from '../../support/incident-messages.ts';
import { parseMail } from '../../support/mail-server.ts';
import { waitUntil } from '../../support/wait.ts';
import { requires } from '../faults/support/requirements.ts';
import { findPort } from './peer.ts';

/** User id and group id of `nobody` on Debian. */
const nobody = 65534;

/** Starts OpenSMTPD, with private folders for its queue and its socket, and a mailbox for anna@example.org. */
const startMailServer = async (t: TestContext) => {
  const folder = createFolder(t);
  const home = join(folder, 'home');
  mkdirSync(home);
  chownSync(home, nobody, nobody);
  chmodSync(folder, 0o755);
  const port = await findPort();
  const config = join(folder, 'smtpd.conf');
  const lines = [
    'table people { "anna@example.org" = "nobody" }',
    `table homes { "nobody" = "${nobody}:${nobody}:${home}" }`,
    `listen on 127.0.0.1 port ${port} hostname mail.example.org`,
    `action "store" maildir "${home}/Maildir" userbase <homes> virtual <people>`,
    'match from any for domain "example.org" action "store"',
  ];
  writeFileSync(config, `${lines.join('\n')}\n`, { mode: 0o600 });
  const script = 'mount -t tmpfs none /var/spool && mount -t tmpfs none /run && exec smtpd -d -f "$0"';
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, config], {
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000);
    });
  }
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await waitUntil('smtpd listens', async () => {
    if (child.exitCode !== null) throw new Error(`smtpd ended: ${output}`);
    return new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => void socket.end(() => resolve(true)));
      socket.once('error', () => resolve(false));
    });
  });
  const inbox = join(home, 'Maildir', 'new');
  return {
    url: `smtp://127.0.0.1:${port}`,
    readMails: () => {
      try {
        // OpenSMTPD stores lines without carriage returns.
        return readdirSync(inbox)
          .sort()
          .map((name) => parseMail(readFileSync(join(inbox, name), 'latin1').replaceAll('\n', '\r\n')));
      } catch {
        return [];
      }
    },
  };
};

const parts = {
  publicUrl: 'https://signalbox.example.org',
  toAcknowledgeUrl: () => undefined,
  instance: 'signalbox/0123456789abcdef',
};

test(
  'OpenSMTPD delivers mails about an incident as one thread',
  requires({ programs: ['smtpd'], mounts: true }),
  async (t) => {
    const server = await startMailServer(t);
    const from = 'Signalbox <signalbox@example.org>';
    const settings = { name: 'mail', type: 'email', url: server.url, from };
    const send = async (update: IncidentUpdate, to: string) => {
      const transport = await openTransport(toDestinationDefinition({ ...settings, to: [to] }), 1, () => new Date());
      t.after(() => transport.close());
      return (await transport.send(createIncidentMessage([update], parts))).outcome;
    };
    const title = 'Dateisystem voll: é <b>99 %</b>\n.\n';
    for (const update of [createUpdate({ title }), createResolution({ title })])
      assert.deepEqual(await send(update, 'anna@example.org'), { kind: 'delivered' });
    await waitUntil('both mails are in the mailbox', () => server.readMails().length === 2);
    const mails = server.readMails();
    assert.equal(new Set(mails.map(({ headers }) => headers['references'])).size, 1);
    assert.deepEqual(mails.map(({ headers }) => headers['subject']).sort(), [
      'CRITICAL #412 Dateisystem voll: é <b>99 %</b> .  on db-1',
      'Resolved #412: Dateisystem voll: é <b>99 %</b> .  on db-1',
    ]);
    assert.ok(mails.every(({ text }) => text.includes('Open: https://signalbox.example.org/console/#/incidents/412')));
    const refused = await send(createUpdate(), 'nobody@example.net');
    assert.deepEqual(refused, { kind: 'refused', reason: 'the mail server responded 550 to RCPT TO' });
  },
);
