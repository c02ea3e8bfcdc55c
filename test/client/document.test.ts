import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/server/package-info.ts';
import { readText, toBlocks } from '../repo/support/documents.ts';
import { passwords, startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import type { Scope } from '../support/scope.ts';
import { createClient } from './built-client.ts';

const run = promisify(execFile);
const compiler = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');

/** Creates a folder in which `signalbox/client` is the built package. */
const createProject = (t: Scope, source: string, options: object): string => {
  const folder = createFolder(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(packageRoot, join(folder, 'node_modules', 'signalbox'));
  symlinkSync(join(packageRoot, 'node_modules', '@types'), join(folder, 'node_modules', '@types'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'program.ts'), source);
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    skipLibCheck: false,
    noUnusedLocals: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    ...options,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  return folder;
};

/** Returns the compiler's messages. */
const compile = (folder: string): Promise<string> =>
  run(process.execPath, [compiler, '--pretty', 'false'], { cwd: folder }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );

test('the examples of docs/guides/client.md compile strictly and run in their order', async (t) => {
  const { url } = await startApp(t);
  const source = toBlocks(readText('docs/guides/client.md'), 'ts').join('\n').replace('http://localhost:8080', url);
  const folder = createProject(t, source, { types: ['node'], lib: ['es2023'] });
  assert.equal(await compile(folder), '');
  // The stream of events shows the next alert.
  const { call } = createClient(url);
  const timer = setInterval(() => void call('createAlert', { message: 'the next alert' }), 100);
  const env = { ...process.env, PASSWORD: passwords.admin };
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env }).finally(() =>
    clearInterval(timer),
  );
  assert.deepEqual(stdout.trimEnd().split('\n'), ['InProgress 1', '1 Check the backups', 'the next alert']);
  assert.equal((await call('getTask', { id: 1 }))['Title'], 'Check the backups again');
});

test('curl and TypeScript of docs/guides/scripts.md store equal alerts', async (t) => {
  const guide = readText('docs/guides/scripts.md');
  const { url } = await startApp(t);
  const toLocal = (block = ''): string => block.replace('http://127.0.0.1:8080', url);
  const folder = createProject(t, toLocal(toBlocks(guide, 'ts')[0]), { types: ['node'], lib: ['es2023'] });
  assert.equal(await compile(folder), '');
  const env = { PATH: process.env['PATH'] };
  await run(process.execPath, ['program.js'], { cwd: folder, env });
  await run('sh', ['-c', toLocal(toBlocks(guide, 'sh').at(-1))], { env });
  const { data } = await createClient(url).call('listAlerts');
  const stored = (data as Record<string, unknown>[]).map(({ source, level, message }) => [source, level, message]);
  assert.deepEqual(stored, [
    ['backup', 'ERROR', 'the disk is full'],
    ['backup', 'ERROR', 'the disk is full'],
  ]);
});

/** Misuse of the client. Each `@ts-expect-error` is itself an error for the compiler if its line has none. */
const misuse = `
import { createClient } from 'signalbox/client';

const client = createClient('/');
const numbers: number[] = [];
for await (const { Id } of client.each.listTasks({ status: 'Pending', limit: 5 })) numbers.push(Id);
for await (const event of client.streamEvents({ topics: ['alerts', 'host'] })) {
  if (event.topic === 'host') numbers.push(event.data.cpu ?? 0);
  // @ts-expect-error Tasks are not asked for.
  if (event.topic === 'tasks') break;
}
numbers.push((await client.listAvailability()).count, (await client.listAvailability({ format: 'json' })).count);
numbers.push((await client.listAvailability({ format: 'csv' })).length);
numbers.push((await client.withResponse.getWatchAvailability({ watch: 'site', format: 'csv' })).data.length);
// @ts-expect-error CSV has no fields.
numbers.push((await client.listAvailability({ format: 'csv' })).count);
// @ts-expect-error CSV has no entries.
client.each.listAvailability({ format: 'csv' });
// @ts-expect-error A list of tasks has no formats.
await client.listTasks({ format: 'csv' });
// @ts-expect-error There is no such status.
await client.listTasks({ status: 'Unknown' });
// @ts-expect-error A task needs a title.
await client.createTask({ Priority: 'High' });
// @ts-expect-error The field has another name.
await client.createTask({ Title: 'Check the backups', Prio: 'High' });
// @ts-expect-error A title is a text.
await client.updateTask({ id: 1, Title: 1 });
// @ts-expect-error A task is named by its id.
await client.getTask();
// @ts-expect-error A read does not look at If-Match.
await client.getTask({ id: 1 }, { ifMatch: '"1"' });
// @ts-expect-error One task is no list.
client.each.getTask({ id: 1 });
// @ts-expect-error There is no such topic.
client.streamEvents({ topics: ['weather'] });
// @ts-expect-error A password needs a name.
createClient('/', { credentials: { password: 'x' } });
// @ts-expect-error There is no such field.
numbers.push((await client.getTask({ id: 1 })).Number);
`;

test('a program with a wrong field, parameter or topic does not compile, in Node.js and in a browser', async (t) => {
  for (const options of [
    { types: ['node'], lib: ['es2023'] },
    { types: [], lib: ['es2022', 'dom'] },
    { types: [], lib: ['es2022', 'dom'], module: 'esnext', moduleResolution: 'bundler' },
  ]) {
    const folder = createProject(t, misuse, { ...options, noEmit: true });
    assert.equal(await compile(folder), '');
    writeFileSync(join(folder, 'program.ts'), misuse.replaceAll('@ts-expect-error', ''));
    assert.equal((await compile(folder)).match(/error TS/g)?.length, misuse.match(/@ts-expect-error/g)?.length);
  }
});
