import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { end, header, lastId, task } from '../support/export-lines.ts';
import { createFolder } from '../support/folder.ts';
import { refusal, runCommand, runProgram } from '../support/program.ts';
import { fileStore, fill, logIn, start } from '../support/transfer.ts';

const importText = (folder: string, lines: readonly string[]) =>
  runCommand(['import', ...fileStore(folder)], { input: lines.map((line) => `${line}\n`).join('') });

test('an export imported into an empty store has the same lists, versions, keys and next ids', async (t) => {
  const [before, after] = [await fill(t), createFolder(t)];
  const exported = await runCommand(['export', ...fileStore(before)]);
  assert.equal(exported.stderr, 'signalbox: exported tasks 2, taskKeys 1, simpleTasks 1, items 2\n');
  assert.equal(exported.code, 0);
  const imported = await runCommand(['import', ...fileStore(after)], { input: exported.stdout });
  assert.deepEqual(
    [imported.code, imported.stdout, imported.stderr],
    [0, '', 'signalbox: imported tasks 2, taskKeys 1, simpleTasks 1, items 2\n'],
  );
  assert.equal((await runCommand(['export', ...fileStore(after)])).stdout, exported.stdout);

  const read = async (folder: string, key: string) => {
    const server = await start(t, folder);
    const lists = ['/api/tasks', '/simple/api/tasks', '/api/items'];
    const headers = await logIn(server);
    const texts = await Promise.all(lists.map(async (path) => (await server.request('GET', path, { headers })).text));
    const { headers: single } = await server.request('GET', '/api/tasks/1');
    const body = { Title: 'first', Description: '\u0000 \ud800 \u2028 "},{"' };
    const { json: known } = await server.request('POST', '/api/tasks', { body, headers: { 'Idempotency-Key': key } });
    const { json: created } = await server.request('POST', '/api/tasks', { body: { Title: 'next' } });
    await server.close();
    return [...texts, single['etag'], known['Id'], created['Id']];
  };
  const found = await read(after, 'k');
  assert.deepEqual(found.slice(3), ['"2"', 1, 4]);
  assert.deepEqual(found, await read(before, 'k'));
});

/** Task without its version. */
const keyed = JSON.stringify({ ...JSON.parse(task(2)).tasks, version: undefined });

test('a line that cannot be imported is named, and nothing is stored', async (t) => {
  const folder = createFolder(t);
  const key = `{"taskKeys":{"key":"k","bodyHash":"h","storedAt":1,"task":${keyed}}}`;
  for (const [lines, problem] of [
    [[], 'line 1: the export is incomplete: its last line is missing'],
    [['{}', end], `line 1: expected ${header}: the input is not a signalbox export`],
    [
      ['{"signalbox":"export","version":2}'],
      'line 1: this export has version 2, but this version of signalbox reads only version 1: upgrade signalbox',
    ],
    [[header, lastId(1), task(1), '{"tasks":'], 'line 4: the line is not valid JSON'],
    [[header, lastId(1), task(1)], 'line 4: the export is incomplete: its last line is missing'],
    [[header, lastId(2), task(2), task(2), end], 'line 4: tasks.Id must be higher than the ids of all preceding tasks'],
    [[header, lastId(2), task(2), key, key, end], 'line 5: taskKeys.key was already used in an earlier line'],
    [[header, lastId(2), task(2), task(1, ',"Owner":"x"'), end], 'line 4: tasks has unknown keys; remove Owner'],
    [[header, '{"tasks":{"Id":1}}', end], 'line 2: tasks must have '],
    [[header, '{"items":{"id":1000,"name":"a","status":"active"}}', end], 'line 2: items.id must be at most 999'],
    [[header, '{"simpleTasks":{"id":2,"title":"a","status":"done"}}', end], 'line 2: simpleTasks.id must be 1, '],
    [[header, '{"logins":{}}', end], 'line 2: expected an object with one of the keys tasks, lastTaskId, taskKeys, '],
    [[header, lastId(1), task(1), end, task(2)], 'line 5: the export contains more lines after its last line'],
    [[header, 'null', end], 'line 2: expected an object'],
    [[header, task(1), end], 'line 2: tasks.Id must follow a line with lastTaskId, which is missing'],
    [[header, key, end], 'line 2: taskKeys.task must follow a line with lastTaskId, which is missing'],
  ] as const) {
    const { code, stdout, stderr } = await importText(folder, lines);
    assert.ok(stderr.startsWith(`signalbox: ${problem}`), `${problem}: ${stderr}`);
    assert.ok(stderr.endsWith('; nothing was imported\n'), stderr);
    assert.deepEqual([code, stdout], [1, '']);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.state')),
    [],
  );
  assert.equal((await importText(folder, [header, lastId(7), task(7), end])).code, 0);
});

test('an import into a store with records is refused', async (t) => {
  const folder = createFolder(t);
  assert.equal((await importText(folder, [header, lastId(7), task(7), end])).code, 0);
  const { code, stderr } = await importText(folder, [header, lastId(8), task(8), end]);
  assert.deepEqual(
    [code, stderr],
    [1, 'signalbox: the store is not empty, because tasks are or were stored; import into an empty store\n'],
  );
});

test('export and import fail while a server uses the folder', async (t) => {
  const folder = createFolder(t);
  await start(t, folder);
  for (const command of ['export', 'import']) {
    const inUse = `dataDir: ${folder} is in use by another signalbox process; stop that process first`;
    assert.equal(await refusal([command, ...fileStore(folder)], 1), inUse);
  }
});

test('an export names a folder without records, and leaves it unchanged', async (t) => {
  const folder = join(createFolder(t), 'data');
  const problem = `dataDir: ${folder} has nothing to export; choose another folder with --data-dir`;
  assert.equal(await refusal(['export', ...fileStore(folder)], 1), problem);
  assert.equal(existsSync(folder), false);
});

test('an export leaves out damaged records, names them, and can be imported', async (t) => {
  const folder = createFolder(t);
  const tasks = Array.from({ length: 2000 }, (_, index) => task(index + 1));
  const simpleTasks = [1, 2].map((id) => `{"simpleTasks":{"id":${id},"title":"s${id}","status":"done"}}`);
  assert.equal((await importText(folder, [header, lastId(2000), ...tasks, ...simpleTasks, end])).code, 0);
  const server = await start(t, folder);
  for (const Title of ['a', 'b', 'c']) await server.request('POST', '/api/tasks', { body: { Title } });
  for (const title of ['a', 'b', 'c']) await server.request('POST', '/simple/api/tasks', { body: { title } });
  await server.close();
  replace(join(folder, 'tasks.state'), '"Title":"t5"', '"Title":!t5"');
  replace(join(folder, 'tasks.jsonl'), '"Title":"b"', '"Title":"!"');
  replace(join(folder, 'simple-tasks.jsonl'), '"title":"b"', '"title":"!"');
  const hint = 'restore the folder from a backup, or save the readable part with signalbox export';
  assert.ok((await refusal(fileStore(folder), 1)).endsWith(hint));

  const { code, stdout, stderr } = await runCommand(['export', ...fileStore(folder)]);
  assert.deepEqual(
    stderr.split('\n').map((line) => line.replace(`${folder}/`, '')),
    [
      'signalbox: skipped a damaged part: tasks: tasks.state is damaged near line 7',
      'signalbox: skipped a damaged part: tasks: record 2 of the log is missing or damaged',
      'signalbox: skipped a damaged part: simple-tasks: record 2 of the log is missing or damaged',
      'signalbox: skipped a damaged part: simple-tasks: 1 lost entry; later entries get new numbers',
      'signalbox: exported tasks 2001, simpleTasks 4',
      '',
    ],
  );
  assert.equal(code, 1);
  const ids = [...stdout.matchAll(/"Id":(\d+)/g)].map(([, id]) => Number(id));
  assert.deepEqual(
    Array.from({ length: 2003 }, (_, index) => index + 1).filter((id) => !ids.includes(id)),
    [5, 2002],
  );
  const other = createFolder(t);
  const imported = await runCommand(['import', ...fileStore(other)], { input: stdout });
  assert.deepEqual([imported.code, imported.stderr], [0, 'signalbox: imported tasks 2001, simpleTasks 4\n']);
});

test('an import that was interrupted while it stored records is not served, and the next import starts from the beginning', async (t) => {
  const folder = createFolder(t);
  assert.equal((await importText(folder, [header, lastId(7), task(7), end])).code, 0);
  writeFileSync(join(folder, 'import.unfinished'), '');
  const problem = `dataDir: ${folder} contains part of an interrupted import; run signalbox import again`;
  assert.equal(await refusal(fileStore(folder), 1), problem);
  assert.equal(await refusal(['export', ...fileStore(folder)], 1), problem);
  assert.equal((await importText(folder, [header, lastId(8), task(8), end])).code, 0);
  const { stdout } = await runCommand(['export', ...fileStore(folder)]);
  assert.deepEqual(stdout.split('\n').slice(1, -1), [lastId(8), task(8), end]);
});

test('an import that cannot be stored leaves nothing behind', async (t) => {
  const folder = createFolder(t);
  const item = JSON.stringify({ items: { id: 1, name: 'x'.repeat(100_000), status: 'active' } });
  const input = [header, lastId(7), task(7), item, end, ''].join('\n');
  // Files are limited to 16 KiB, so the items that follow the tasks cannot be stored.
  const wrapper = ['sh', '-c', 'ulimit -f 16; exec "$0" "$@"'];
  const { code, stderr } = await runProgram(['import', ...fileStore(folder)], { input, wrapper });
  assert.match(stderr, /^signalbox: nothing was imported: .*EFBIG.*\n$/);
  assert.equal(code, 1);
  const left = readdirSync(folder).filter((name) => /state$|unfinished/.test(name));
  assert.deepEqual(left, []);
});

const replace = (path: string, from: string, to: string): void => {
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(from));
  writeFileSync(path, text.replace(from, to));
};
