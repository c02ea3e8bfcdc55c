import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { redact } from './redact.ts';

const kept = [
  'Out of memory: Killed process 4086 (node) total-vm:1048576kB, anon-rss:524288kB, UID:1000',
  'backup.service: Main process exited, code=exited, status=1/FAILURE',
  "backup.service: Failed with result 'exit-code'.",
  'session-3.scope: Deactivated successfully.',
  'EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm node: reading directory lblock 0',
  'usb 1-1: device descriptor read/64, error -71',
  'Accepted password for anna from 10.0.0.7 port 51234 ssh2',
  'pam_unix(sshd:session): session opened for user anna(uid=1000) by (uid=0)',
  'check passed: 5 files, bypass=1, keys: 3',
  'nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)',
  'I/O error, dev sda, sector 123456 op 0x0:(READ) flags 0x80700',
  'demo.service: Failed to execute /usr/bin/demo: No such file or directory',
];

const hiding: Record<string, string> = {
  'anna : TTY=pts/0 ; PWD=/home/anna ; USER=root ; COMMAND=/usr/bin/mysql -phunter2': 'anna : TTY=pts/0 ; PWD …',
  '(root) CMD (/usr/local/bin/backup hunter2)': '(root) CMD (…)',
  'Started run-u5.service - /bin/false hunter2.': 'Started run-u5.service',
  'Started [systemd-run] /bin/sh hunter2.': 'Started [systemd-run] /bin/sh …',
  'Started /usr/bin/demo --password hunter2.': 'Started /usr/bin/demo …',
  'running mysql -phunter2 now': 'running mysql …',
  'Kernel command line: BOOT_IMAGE=/vmlinuz luks=hunter2': 'Kernel command line: …',
  'login with password=hunter2 failed': 'login with password …',
  'Password of admin for this run: hunter2': 'Password …',
  'the secret is hunter2': 'the secret …',
  'PASSWORD hunter2': 'PASSWORD …',
  'Passwort: hunter2': 'Passwort …',
  'mot de passe hunter2': 'mot de passe …',
  'api key: hunter2': 'api key …',
  'Failed password hunter2 for anna': 'Failed password …',
  'DB_PASSWORD: "hunter2 hunter2" is wrong': 'DB_PASSWORD …',
  '{"user":"anna","api_key":"hunter2"}': '{"user":"anna","api_key …',
  'connecting to postgres://app:hunter2@db/shop': 'connecting to postgres://db/…',
  'connecting to postgres://app:a@hunter2@db': 'connecting to …@db',
  'fetching anna:hunter2@example.org now': 'fetching …@example.org now',
  'POST https://hooks.slack.com/services/T0/B0/hunter2 failed': 'POST https://hooks.slack.com/… failed',
  'POST https://discord.com/api/webhooks/12/hunter2': 'POST https://discord.com/…',
  'POST /services/T0/B0/hunter2 404': 'POST /services/… 404',
  'GET https://api.telegram.org/bot12:hunter2/getMe': 'GET https://api.telegram.org/…',
  'GET /bot12:hunter2/getMe': 'GET /…/getMe',
  'GET /callback?code=hunter2&state=x HTTP/1.1': 'GET /callback?code=…&state=… HTTP/1.1',
  'Authorization: Bearer hunter2.hunter2': 'Authorization …',
  'sent Bearer hunter2 to it': 'sent Bearer … to it',
  'Cookie: theme=dark; sid=hunter2': 'Cookie …',
  'DB_PASS=hunter2 is wrong': 'DB_PASS …',
  'smtp.pass: hunter2': 'smtp.pass …',
  'wpa_psk=hunter2': 'wpa_psk …',
  'encryption_key=hunter2': 'encryption_key …',
  'pushed with ghp_hunter2': 'pushed with …',
  'pushed with glpat-hunter2 now': 'pushed with … now',
  'posted as xoxb-12-hunter2': 'posted as …',
  'signed eyJhbG.eyJzdWI.hunter2 for it': 'signed … for it',
  MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7hunter2: '…',
  'key eyJhbGciOiJIUzI1NiIsInR5cCI6hunter2 was refused': 'key … was refused',
  'ping of 019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55': 'ping of …',
  '-----BEGIN PRIVATE KEY----- hunter2': '…',
};

test('ordinary lines of a journal are not changed', () => {
  for (const line of kept) assert.equal(redact(line, 400), line);
});

test('secrets, credentials in addresses and command lines are hidden', () => {
  for (const [line, expected] of Object.entries(hiding)) {
    assert.equal(redact(line, 400), expected);
    assert.ok(!redact(line, 400).includes('hunter2'));
  }
});

test('a long line is cut only after its secrets are hidden', () => {
  const line = redact(`${'a '.repeat(190)}password=hunter2hunter2hunter2hunter2`, 400);
  assert.ok(!line.includes('hunter2'), line);
  assert.equal(redact('x '.repeat(1000), 400).length, 400);
});

test('any line is redacted within 500 ms to at most 400 characters without control characters', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '-',
      '/bin/',
      '=',
      'token',
      'CMD(',
      'a.service',
      '://',
      ' - ',
      'a1',
      '.',
      '"',
      '\u202e',
      '\n',
      '\0',
    ),
    fc.string(),
  );
  const line = fc
    .tuple(fc.array(part), fc.integer({ min: 1, max: 2000 }))
    .map(([parts, times]) => parts.join('').repeat(times));
  fc.assert(
    fc.property(line, (text) => {
      const from = performance.now();
      const result = redact(text.slice(0, 20_000), 400);
      assert.ok(performance.now() - from < 500);
      assert.ok(result.length <= 400);
      assert.doesNotMatch(result, /[\p{Cc}\p{Bidi_Control}]/u);
    }),
  );
});
