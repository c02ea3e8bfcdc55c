import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/server/package-info.ts';
import { passwords, startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';

const run = promisify(execFile);

/** Typical code that uses the generated types. Each `@ts-expect-error` fails to compile if its line has no error. */
const program = `
import createClient from 'openapi-fetch';
import type { components, operations, paths } from './schema.js';

type Task = components['schemas']['Task'];
type Alert = components['schemas']['Alert'];
type ErrorBody = components['schemas']['ErrorBody'];
type Filters = NonNullable<operations['listTasks']['parameters']['query']>;

const baseUrl: string = SERVER;
const client = createClient<paths>({ baseUrl });

const lines: string[] = [];

const created = await client.POST('/api/tasks', { body: { Title: 'Check the backups', Priority: 'High' } });
const task: Task = created.data ?? fail('no task', created.error);
lines.push([task.Id, task.Title, task.Priority, task.Status].join(' '));

const filters: Filters = { status: 'Pending', priority: 'High', limit: 5 };
const read = await client.GET('/api/tasks/{id}', { params: { path: { id: task.Id } } });
lines.push(read.data?.Title ?? fail('no task', read.error));

const list = await client.GET('/api/tasks', { params: { query: filters } });
lines.push(list.data?.data.map(({ Title }) => Title).join() ?? fail('no list', list.error));

// @ts-expect-error There is no such status.
const unknown = await client.GET('/api/tasks', { params: { query: { status: 'Unknown' } } });
lines.push(String(unknown.data?.total));

// @ts-expect-error A task needs a title.
const refused = await client.POST('/api/tasks', { body: {} });
lines.push(refused.error && 'detail' in refused.error ? String(refused.error.detail) : 'accepted');

const missing = await client.GET('/api/tasks/{id}', { params: { path: { id: 999 } } });
const error: ErrorBody = missing.error ?? fail('found', missing.data);
lines.push(error.error);

const login = await client.POST('/api/auth/login', { body: { Username: 'admin', Password: PASSWORD } });
const { token, role } = login.data ?? fail('no token', login.error);
lines.push(role);
const headers = { Authorization: \`Bearer \${token}\` };
const item = await client.POST('/api/items', { headers, body: { name: 'label printer' } });
lines.push(item.data?.message ?? fail('no item', item.error));

const alert = await client.POST('/api/alert', { body: { level: 'ERROR', message: 'disk is full' } });
lines.push(String(alert.data?.received));
const alerts: Alert[] = (await client.GET('/api/alerts', {})).data?.data ?? [];
lines.push(alerts.map(({ level, message }) => \`\${level} \${message}\`).join());

console.log(JSON.stringify(lines));

function fail(what: string, found: unknown): never {
  throw new Error(\`\${what}: \${JSON.stringify(found)}\`);
}
`;

const compiler = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    lib: ['ES2022', 'DOM'],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
  },
  files: ['program.ts'],
};

test('a client generated from the OpenAPI document compiles strictly and calls the server', async (t) => {
  const folder = createFolder(t);
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const { request, url } = await startApp(t);
  writeFileSync(join(folder, 'openapi.json'), (await request('GET', '/openapi.json')).text);
  const source = program.replace('SERVER', JSON.stringify(url)).replace('PASSWORD', JSON.stringify(passwords.admin));
  writeFileSync(join(folder, 'program.ts'), source);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(compiler));
  const runTool = async (path: string, ...args: string[]): Promise<string> => {
    const options = { cwd: folder, timeout: 30_000 };
    const { stdout } = await run(process.execPath, [path, ...args], options).catch((error) =>
      assert.fail(`${error.message}\n${error.stdout}`),
    );
    return stdout;
  };
  await runTool('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'schema.d.ts');
  await runTool('node_modules/typescript/bin/tsc');
  assert.deepEqual(JSON.parse(await runTool('program.js')), [
    '1 Check the backups High Pending',
    'Check the backups',
    'Check the backups',
    '0',
    'Title is required',
    'Task with Id=999 not found',
    'Admin',
    'Item created',
    'true',
    'ERROR disk is full',
  ]);
});
