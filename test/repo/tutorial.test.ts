import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { startReceiver } from '../support/receiver.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { readText, toBlocks } from './support/documents.ts';

const tutorial = readText('docs/start.md');

/** Replaces a string. Fails if the string is missing. */
const replace = (text: string, from: string, to: string): string => {
  assert.ok(text.includes(from), from);
  return text.replaceAll(from, to);
};

/** Creates a clone with installed packages and a build. test/lab/first-run tests the first start. */
const createBuiltClone = (clone: string): void => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  const built = [
    'console',
    'parts',
    'public',
    'licences.json',
    'mysql.js',
    'texts.json',
    'server.js',
    'signalbox.js',
  ].map((name) => join('dist', name));
  for (const file of [...files.split('\0').filter(Boolean), ...built]) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(packageRoot, file), join(clone, file), { recursive: true });
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(clone, 'node_modules'));
};

/** Starts a shell that runs one block after another and returns the output of each block. */
const startShell = (t: TestContext, cwd: string) => {
  const { npm_config_cache, PATH, HOME } = process.env;
  const env = { PATH, HOME, npm_config_cache, npm_config_update_notifier: 'false' };
  const child = spawn('bash', ['--norc'], { cwd, env, detached: true });
  atEnd(t, () => child.exitCode ?? process.kill(-Number(child.pid), 'SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const show = (): string => printed;
  const run = async (block: string): Promise<string> => {
    const start = printed.length;
    child.stdin.write(`${block}\necho "status:$?"\n`);
    await waitUntil(`the end of ${block}`, () => printed.slice(start).includes('status:')).catch((error) => {
      throw new Error(`${error.message}\n${printed}`);
    });
    assert.match(printed.slice(start), /status:0/, block);
    return printed.slice(start);
  };
  return { show, run };
};

test("the tutorial's lines send an alert to a phone, where it is acknowledged and resolved", async (t) => {
  const folder = createFolder(t);
  const [phone, port] = [await startReceiver(t), await findFreePort()];
  const { show, run } = startShell(t, folder);
  const [getIt = '', topic = '', address = '', settings = '', start = '', check = '', login = '', ...rest] = toBlocks(
    tutorial,
    'sh',
  );
  const [send = '', list = '', resolve = '', stop = '', ...others] = rest;
  assert.deepEqual(others, []);

  const [clone = '', enter = ''] = getIt.split('\n');
  assert.equal(clone, `git clone ${JSON.parse(readText('package.json')).repository.url.replace('git+', '')}`);
  createBuiltClone(join(folder, 'signalbox'));
  await run(enter);
  assert.match(await run(replace(topic, 'https://ntfy.sh', phone.url)), /\/signalbox-[0-9a-f]{16}\n/);
  await run(replace(replace(address, '192.0.2.10', '127.0.0.1'), ':8080', `:${port}`));
  await run(replace(settings, '"host": "$ADDRESS",', `"host": "$ADDRESS", "port": ${port},`));
  await run(start);
  await waitUntil('the server listens', () => show().includes(`listens on http://127.0.0.1:${port}`)).catch((error) => {
    throw new Error(`${error.message}\n${show()}`);
  });
  const [, code] = /#\/setup\?code=(\S+)/.exec(show()) ?? assert.fail(show());
  const account = { code, name: 'anna', password: 'correct horse' };
  const created = await fetch(`http://127.0.0.1:${port}/api/setup`, { method: 'POST', body: JSON.stringify(account) });
  assert.equal(created.status, 201);
  assert.match(await run(check), /200/);
  await run(login);

  assert.match(await run(send), /\{"received":true,"id":"/);
  // Watches of the machine can also notify the phone.
  const find = (title: string) => phone.requests.find(({ headers }) => headers['title']?.includes(title));
  await waitUntil('the phone has the incident', () => find('the disk is full') !== undefined);
  const { headers } = find('the disk is full') ?? assert.fail();
  const [acknowledge] = JSON.parse(String(headers['actions']));
  assert.equal(acknowledge.label, 'Acknowledge');
  const tapped = await fetch(acknowledge.url, { method: acknowledge.method, headers: acknowledge.headers });
  assert.equal(tapped.status, 200);
  assert.match(await run(list), /"state":"acknowledged"/);

  await run(resolve);
  await waitUntil('the phone has the resolution', () => find('Resolved') !== undefined);
  await run(stop);
  await waitUntil('the server has stopped', () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      () => false,
      () => true,
    ),
  );
});
