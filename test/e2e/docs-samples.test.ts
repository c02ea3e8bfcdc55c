import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/app/package-info.ts';
import { startApp } from '../support/app.ts';

interface Values {
  inPath: Record<string, string>;
  inQuery: Record<string, string>;
  body: string;
}

interface Modules {
  toCall(route: object, values: Values, server: string): { url: string };
  toSample(language: string, call: unknown): string;
  formatJson(text: string): string;
  compactJson(text: string): string;
}

const load = (path: string): Promise<Modules> => import(pathToFileURL(join(packageRoot, 'public', path)).href);
const { toCall } = await load('openapi/call.js');
const { toSample } = await load('openapi/samples.js');
const { formatJson, compactJson } = await load('ui/json.js');

const noValues: Values = { inPath: {}, inQuery: {}, body: '' };
const change = { method: 'PUT', path: '/a/{id}', access: 'token' };
const changeCall = toCall(change, { ...noValues, inPath: { id: '1' }, body: `{"name":"it's"}` }, 'http://h:1');

test('parameters are encoded in the address, and those without a value are left out', () => {
  const route = { method: 'GET', path: '/a/{id}', access: 'open' };
  const values = {
    ...noValues,
    inPath: { id: 'a/b?' },
    inQuery: { since: '2026-01-31T09:30:00+01:00', level: '', q: 'a b' },
  };
  const { url } = toCall(route, values, 'http://h:1');
  assert.equal(url, 'http://h:1/a/a%2Fb%3F?since=2026-01-31T09:30:00%2B01:00&q=a+b');
});

test('a curl command quotes special characters of the shell and has a placeholder for the token', () => {
  const lines = [
    `curl -X PUT 'http://h:1/a/1' \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"name":"it'\\''s"}'`,
  ];
  assert.equal(toSample('curl', changeCall), lines.join('\n'));
});

test('a PowerShell command doubles single quotes, typographic ones too', () => {
  const lines = [
    "Invoke-RestMethod -Method Put -Uri 'http://h:1/a/1' `",
    '  -Headers @{ Authorization = "Bearer $TOKEN" } `',
    "  -ContentType 'application/json; charset=utf-8' `",
    `  -Body '{"name":"it''s"}'`,
  ];
  assert.equal(toSample('powershell', changeCall), lines.join('\n'));
  const call = toCall(change, { ...noValues, body: '"it’s"' }, '');
  assert.ok(toSample('powershell', call).endsWith(`-Body '"it’’s"'`));
});

test('a stream is read with curl.exe in PowerShell, and piece by piece with fetch', () => {
  const call = toCall({ method: 'GET', path: '/e', access: 'open', isStream: true }, noValues, '');
  assert.equal(toSample('curl', call), "curl -N '/e'");
  assert.equal(toSample('powershell', call), "curl.exe -N '/e'");
  assert.match(toSample('fetch', call), /for await \(const text of response\.body/);
});

test('the curl command creates a task as it stands', async (t) => {
  const { url, request } = await startApp(t);
  const body = '{"Title":"it\'s $HOME `id`"}';
  const call = toCall({ method: 'POST', path: '/api/tasks', access: 'open' }, { ...noValues, body }, url);
  await promisify(execFile)('sh', ['-c', `${toSample('curl', call)} --silent --fail`]);
  const { json } = await request<{ data: { Title: string }[] }>('GET', '/api/tasks');
  assert.ok(json.data.some(({ Title }) => Title === "it's $HOME `id`"));
});

test('the script with fetch creates a task as it stands', async (t) => {
  const { url, request } = await startApp(t);
  const body = `{"Title":"it's \\"quoted\\"","Description":"${'long '.repeat(20)}"}`;
  const call = toCall({ method: 'POST', path: '/api/tasks', access: 'open' }, { ...noValues, body }, url);
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', toSample('fetch', call)]);
  const { json } = await request<{ data: { Title: string }[] }>('GET', '/api/tasks');
  assert.ok(json.data.some(({ Title }) => Title === `it's "quoted"`));
});

test('JSON is formatted and shortened without changing its numbers and texts', () => {
  const values = [{ a: [], b: {}, c: [1, { d: 'x,"{ }\\' }], e: null, f: [[]] }, [], {}, 'text', [[1], [2]]];
  for (const value of values) {
    const text = JSON.stringify(value);
    assert.equal(formatJson(text), JSON.stringify(value, null, 2));
    assert.equal(compactJson(formatJson(text)), text);
  }
  assert.equal(formatJson('{"a":12345678901234567890,"a":1.0}'), '{\n  "a": 12345678901234567890,\n  "a": 1.0\n}');
});
