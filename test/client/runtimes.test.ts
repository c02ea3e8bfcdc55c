import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { passwords, startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { clientPath } from './built-client.ts';

/** Other runtimes, with the arguments with which they run a program that uses the network. */
const runtimes = {
  Bun: ['bun', 'run'],
  Deno: ['deno', 'run', '--no-prompt', '--allow-net', '--allow-read'],
};

const program = `
import { createClient } from '${clientPath.href}';
const client = createClient('URL', { credentials: { user: 'admin', password: 'PASSWORD' } });
const { Id: id } = await client.createTask({ Title: 'Check the backups' });
const { version } = await client.withResponse.getTask({ id });
await client.updateTask({ id, Status: 'Completed' }, { ifMatch: version });
const refused = await client.updateTask({ id, Status: 'Pending' }, { ifMatch: version }).catch(({ status }) => status);
const seen = [refused, (await client.listItems()).page];
for await (const { Status } of client.each.listTasks()) seen.push(Status);
for await (const { pid } of client.each.listProcesses({ top: 1 })) seen.push(pid > 0);
await client.createAlert({ message: 'disk is full' });
for await (const { data } of client.streamEvents({ topics: ['alerts'], lastEventId: '0' })) {
  seen.push(data.message);
  break;
}
console.log(JSON.stringify(seen));
`;

/** Returns the reason why a test cannot use a runtime. In CI, the test fails instead. */
const skipWithout = (program: string): string | false =>
  process.env['CI'] !== 'true' &&
  spawnSync(program, ['--version']).error !== undefined &&
  `${program} is not installed`;

for (const [name, [file = '', ...args]] of Object.entries(runtimes)) {
  test(`the client works in ${name}: calls, logins, versions, lists and events`, {
    skip: skipWithout(file),
  }, async (t) => {
    const { url } = await startApp(t);
    const path = join(createFolder(t), 'program.mjs');
    writeFileSync(path, program.replace('URL', url).replace('PASSWORD', passwords.admin));
    const { stdout } = await promisify(execFile)(file, [...args, path], { timeout: 60_000 });
    assert.deepEqual(JSON.parse(stdout), [412, 1, 'Completed', true, 'disk is full']);
  });
}
