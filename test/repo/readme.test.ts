import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { features } from '../../src/profiles/index.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { findSection, readText, toBlocks, toRows } from './support/documents.ts';

const readme = readText('README.md');
const [firstScript = '', ...otherScripts] = toBlocks(readme, 'sh');

/** Prints each status on standard error, and fails if it is not 2xx. */
const strictCurl = `curl() { command curl -sS --fail-with-body -w '%{stderr}%{http_code}\\n' "$@"; }\n`;

const missing = ['bash', 'curl'].find((program) => spawnSync(program, ['--version']).error);

/** Runs lines of the README with the address replaced; returns their output and each status. */
const runLines = async (lines: string, url: string, password: string) => {
  const script = strictCurl + lines.replaceAll('localhost:8080', url.replace('http://', ''));
  const env = { PATH: process.env['PATH'], PASSWORD: password };
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    env,
  });
  // A stream of events is read until curl's own time limit (28).
  const statuses = stderr
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('curl: (28)'));
  return { stdout, statuses };
};

/** A start message without the parts that differ between runs. */
const toStable = (text: string): string[] =>
  text
    .replace(/http:\S+/, 'URL')
    .replace(/(for this run:) \S+/g, '$1 PASSWORD')
    .trimEnd()
    .split('\n');

test("the README's commands all succeed, and the first prints the output shown", {
  skip: missing && `${missing} is not installed`,
}, async (t) => {
  const password = 'correct horse';
  const variables = { SIGNALBOX_ADMIN_PASSWORD: password };
  const { url } = await startProgram(t, [], { cwd: createFolder(t), variables });
  const first = await runLines(firstScript, url, password);
  const [shown = ''] = toBlocks(readme, 'text');
  const { CreatedAt } = JSON.parse(first.stdout);
  assert.deepEqual(JSON.parse(first.stdout), { ...JSON.parse(shown), CreatedAt });
  const lines = otherScripts.join('\n');
  const { statuses } = await runLines(lines, url, password);
  assert.equal(statuses.length, lines.match(/\bcurl /g)?.length);
  for (const status of [...first.statuses, ...statuses]) assert.match(status, /^2\d\d$/);
  const served = features.filter(({ needsDatabase }) => !needsDatabase);
  for (const { name } of served.flatMap(({ profiles }) => profiles))
    assert.match(lines, new RegExp(`^# ${name}\\b`, 'm'));
});

test('the start message in the README is the real one with lines left out', async (t) => {
  const { output } = await startProgram(t, [], { cwd: createFolder(t) });
  const [block = ''] = toBlocks(readme, '');
  const shown = toStable(block.replace('$ npm start\n', '')).filter((line) => line.trim() !== '...');
  const real = toStable(output.stdout);
  assert.deepEqual(
    real.filter((line) => shown.includes(line)),
    shown,
  );
});

test("the README's table has every profile with its letter, default mounts and summary", async (t) => {
  const { mounts } = await startApp(t);
  const expected = features
    .flatMap(({ profiles }) => profiles)
    .map(({ name, alias = '', summary }) => {
      const bases = mounts.filter(({ profiles }) => profiles.some((profile) => profile.name === name));
      const places = bases.map(({ base }) => `\`${base}\``).join(', ');
      return [`[${name}](docs/api.md#${name})`, alias, places, summary];
    });
  assert.deepEqual(toRows(findSection(readme, 'Profiles')).sort(), expected.sort());
});

test("the README's figures are those of the table in docs/benchmarks.md", () => {
  const benchmarks = readText('docs/benchmarks.md');
  const rows = toRows(benchmarks).map((cells) => ({ id: cells[0], ratio: Number.parseFloat(cells[4] ?? '') }));
  const listRatios = (id: string) => rows.flatMap((row) => (row.id === id ? [row.ratio] : []));
  const [tasks = 0] = listRatios('B1');
  const [alerts = 0] = listRatios('B5');
  const others = listRatios('B9');
  const date = /^- Date: ([\d-]+)/m.exec(benchmarks)?.[1];
  const claim =
    `In the [benchmarks](docs/benchmarks.md) of ${date}, signalbox served single tasks at ${tasks.toFixed(2)} times ` +
    `the rate of bare \`node:http\`, and task requests at ${Math.round(Math.min(...others))} to ` +
    `${Math.round(Math.max(...others))} times the rate of json-server. It stored alerts on disk at ` +
    `${alerts.toFixed(2)} times the rate at which Alertmanager accepts them into memory.`;
  assert.ok(readme.replaceAll('\n', ' ').includes(claim), claim);
});
