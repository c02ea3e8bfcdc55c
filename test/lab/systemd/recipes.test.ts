import assert from 'node:assert/strict';
import { accessSync } from 'node:fs';
import { test } from 'node:test';
import { findSection, readText, toBlocks } from '../../repo/support/documents.ts';
import { waitUntil } from '../../support/wait.ts';
import { requires } from '../faults/support/requirements.ts';
import { bootMachine } from './support/machine.ts';

const recipes = ['backup', 'systemd'].map((name) => readText(`docs/guides/${name}.md`)).join('\n');
const findScripts = (title: string): string[] => toBlocks(findSection(recipes, title), 'sh');

/** True if Node is in a folder where the unit finds it. */
const hasNode = ['/usr/local/bin/node', '/usr/bin/node'].some((path) => {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
});
const needed = requires({ programs: ['systemd-nspawn', 'nsenter', 'openssl', 'curl', 'useradd'], mounts: true });
const skip = needed.skip || (!hasNode && 'node is in neither /usr/local/bin nor /usr/bin');

test('the recipes for systemd, passwords and backups work word for word under a real systemd', { skip }, async (t) => {
  const run = await bootMachine(t, { withService: false });
  const follow = (script = '', input = ''): string => {
    const output = run(
      'sh',
      '-c',
      `{ printf '%s\\n' '${input}' | sh -ec "$1"; } 2>&1; echo "exit code $?"`,
      'sh',
      script,
    );
    assert.match(output, /exit code 0\n$/, output);
    return output;
  };
  const readLog = (): string => run('journalctl', '-u', 'signalbox', '-o', 'cat');
  const login = (password: string): string => {
    const body = JSON.stringify({ Username: 'anna', Password: password });
    return run('curl', '-sS', '--retry', '10', '--retry-connrefused', 'localhost:8080/api/auth/login', '-d', body);
  };
  const [, setUp] = findScripts('systemd');
  assert.match(follow(setUp), /"status":"healthy"/);
  assert.equal(run('systemctl', 'is-enabled', 'signalbox').trim(), 'enabled');
  assert.doesNotMatch(readLog(), /"level":[456]0/);
  const [, code] = /#\/setup\?code=(\S+)/.exec(readLog()) ?? assert.fail(readLog());
  const account = JSON.stringify({ code, name: 'anna', password: 'correct horse' });
  run('curl', '-sS', 'localhost:8080/api/setup', '-d', account);
  const { token } = JSON.parse(login('correct horse'));
  const listAlerts = (): string =>
    run('curl', '-sS', 'localhost:8080/api/alerts', '-H', `Authorization: Bearer ${token}`);
  const post = (message: string): string =>
    run(
      'curl',
      '-sS',
      'localhost:8080/api/alert',
      '-H',
      `Authorization: Bearer ${token}`,
      '-d',
      JSON.stringify({ message }),
    );
  assert.match(post('before the backup'), /"received":true/);

  const [hash, reload] = findScripts('Users in the config file');
  assert.match(follow(hash, 'battery staple'), /\$argon2id\$/);
  follow(reload);
  await waitUntil('the settings are read again', () => readLog().includes('settings reloaded'));

  const [[backUp], [restore]] = [findScripts('Back up'), findScripts('Restore')];
  follow(backUp);
  assert.match(post('after the backup'), /"received":true/);
  follow(restore);
  login('correct horse');
  const stored = listAlerts();
  assert.match(stored, /before the backup/);
  assert.doesNotMatch(stored, /after the backup/);
  assert.doesNotMatch(readLog(), /"level":[56]0|other accounts/);
});
