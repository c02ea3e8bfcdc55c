import assert from 'node:assert/strict';
import type { TestApp } from '../../support/app.ts';
import type { MailServer, ReceivedMail } from '../../support/mail-server.ts';
import { waitUntil } from '../../support/wait.ts';

export const publicUrl = 'https://status.example.org';
export const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };

/** Settings of a destination that sends mails through a server. */
export const toMail = ({ url }: Pick<MailServer, 'url'>) => ({
  name: 'mail',
  type: 'email',
  url,
  from: 'Status <status@example.org>',
  to: ['ops@example.org'],
  notify: 'incidents',
});

/** Returns the mails to an address. */
export const mailsTo = ({ mails }: MailServer, address: string): ReceivedMail[] =>
  mails.filter(({ to }) => to.includes(address));

/** Subscribes an address and confirms the mail's link. Resolves to the path of the link. */
export const subscribe = async (app: TestApp, server: MailServer, address: string): Promise<string> => {
  const asked = await app.request('POST', '/status/main/subscribe', {
    headers: form,
    body: new URLSearchParams({ address }).toString(),
  });
  assert.equal(asked.status, 200, asked.text);
  await waitUntil('the confirmation arrives', () => mailsTo(server, address).length > 0);
  const [, path = ''] =
    /https:\/\/status\.example\.org(\/status\/main\/subscribe\/\S+)/.exec(mailsTo(server, address)[0]?.text ?? '') ??
    [];
  const shown = await app.request('GET', path, { headers: { accept: 'text/html' } });
  assert.match(shown.text, /<form method="post"><button>Confirm the subscription<\/button>/);
  const confirmed = await app.request('POST', path, { headers: form, body: '' });
  assert.match(confirmed.text, /You are subscribed\./);
  return path;
};
