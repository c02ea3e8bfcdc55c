import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { command } from '../support/program.ts';
import { atEnd } from '../support/scope.ts';
import { extension, loader } from '../support/source.ts';
import { waitUntil } from '../support/wait.ts';

/** Starts a demonstration with a temporary folder inside a folder of the test. */
const start = (t: TestContext, [program = '', ...args]: readonly string[], variables: Record<string, string> = {}) => {
  const folder = createFolder(t);
  const child = spawn(program, args, {
    cwd: createFolder(t),
    // Without these variables, TypeScript's loader would store its binary and a cache in TMPDIR.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TSX_DISABLE_CACHE: '1', TMPDIR: folder, ...variables },
  });
  const output = { text: '', errors: '' };
  child.stdout.on('data', (chunk) => {
    output.text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.errors += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  atEnd(t, () => child.kill('SIGKILL') && ended);
  return { child, folder, output, ended };
};

test('demo prints the address of the console and the login, and leaves nothing behind', async (t) => {
  // Settings of another server must have no effect.
  const variables = {
    SIGNALBOX_STORE: 'postgres://127.0.0.1:1/none',
    SIGNALBOX_CONFIG: '/nowhere',
    SIGNALBOX_PORT: '1',
  };
  const { child, folder, output, ended } = start(t, [...command, 'demo'], variables);
  await waitUntil('the first event is printed', () => /^ +\d s +cron/m.test(output.text));
  const [, url = '', password = ''] =
    /Console +(http:\S+)\/console\/\n +Log in +admin \/ (\w+)\n/.exec(output.text) ?? [];
  const login = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ Username: 'admin', Password: password }),
  });
  assert.equal(login.status, 200);
  assert.match(await (await fetch(`${url}/console/`)).text(), /<html/);
  const [, key = ''] = /SIGNALBOX_KEY=(sbk_\w+)/.exec(output.text) ?? [];
  const incidents = await fetch(`${url}/api/incidents`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(incidents.status, 200);
  assert.equal(readdirSync(folder).length, 1);
  child.kill('SIGINT');
  assert.equal(await ended, 0);
  assert.deepEqual([readdirSync(folder), output.errors], [[], '']);
  await assert.rejects(fetch(url));
});

test('in a demo incidents open, escalate and are resolved, a heartbeat is late, a disk fills up, and tasks stay open', async (t) => {
  const toUrl = (file: string): string =>
    JSON.stringify(new URL(`../../src/cli/${file}${extension}`, import.meta.url).href);
  // Everything except the heartbeat runs ten times as fast.
  const script = `const { runDemo } = await import(${toUrl('demo/demo')});
    const { schema } = await import(${toUrl('program')});
    process.exit(await runDemo(schema, { pace: 0.1 }));`;
  const { child, folder, output, ended } = start(t, [process.execPath, ...loader, '--input-type=module', '-e', script]);
  await waitUntil('the demo has ended', () => /you +can acknowledge this incident/.test(output.text), 60_000);
  await waitUntil('the last incident escalates', () => /phone +rings.*Shop/.test(output.text));
  for (const line of [
    /team-chat +gets: CRITICAL #1 /,
    /incident #1 +opens: CRITICAL 14 % of checkout requests fail/,
    /(anna|ben)-phone +rings, because nobody has acknowledged the incident: CRITICAL #1 /,
    /anna +acknowledges incident #2: "On it"/,
    /incident #2 +is acknowledged by anna/,
    /heartbeat +nightly-backup is down/,
    /incident #\d +opens: ERROR Heartbeat nightly-backup is late/,
    /incident #\d +is resolved by signalbox: Heartbeat nightly-backup is late/,
    /disk +(has too little space|is too busy)|incident #\d +opens: WARNING \S+ has .* free/,
    /disk +(has too little space|is too busy)|incident #\d +is resolved by signalbox: (\S+ has .* free|demo-disk is no longer watched)/,
    /(anna|ben)-phone +gets: Resolved #1/,
    /anna +creates a task for the follow-up of incident #1/,
    /anna +silences source=lab/,
  ]) {
    assert.match(output.text, line);
  }
  assert.doesNotMatch(output.text, /team-chat.*test rack/);
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.deepEqual([readdirSync(folder), output.errors], [[], '']);
});
