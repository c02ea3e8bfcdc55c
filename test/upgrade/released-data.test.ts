import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createEmptyDatabase } from '../support/postgres/shared-server.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { assertShows, fixtures, type Reading, readAll, readExpected, variables } from './support/fixture.ts';

const versions = readdirSync(fixtures).filter((name) => existsSync(join(fixtures, name, 'expected.json')));

/**
 * Removes incidents. Imported alerts get incidents only on their first day, so the alerts in an old fixture have none.
 */
const withoutIncidents = (readings: readonly Reading[]): Reading[] =>
  JSON.parse(JSON.stringify(readings), (name, value) => (name === 'incident' ? undefined : value));

for (const version of versions) {
  test(`files of ${version} are read, changed, and read again`, async (t) => {
    const dataDir = join(createFolder(t), 'data');
    cpSync(join(fixtures, version, 'data'), dataDir, { recursive: true });
    const args = ['--store', 'file', '--data-dir', dataDir];
    const first = await startProgram(t, args, { variables });
    const expected = readExpected(version);
    assertShows(await readAll(first.request, expected), expected);
    await first.request('POST', '/api/tasks', { body: { Title: 'after the upgrade' } });
    const changed = await readAll(first.request, expected);
    await first.stop();
    const second = await startProgram(t, args, { variables });
    assert.deepEqual(await readAll(second.request, expected), changed);
  });

  test(`an export of ${version} is imported`, async (t) => {
    const args = ['--store', 'file', '--data-dir', join(createFolder(t), 'data')];
    const input = readFileSync(join(fixtures, version, 'export.jsonl'));
    const { code, stderr } = await runProgram(['import', ...args], { variables, input });
    assert.equal(code, 0, stderr);
    const { request } = await startProgram(t, args, { variables });
    const expected = withoutIncidents(readExpected(version, 'expected-import.json'));
    assertShows(await readAll(request, expected), expected);
  });

  test(`a database of ${version} is read and changed`, { skip: toSkipPostgres() }, async (t) => {
    const url = await createEmptyDatabase();
    await runSql(url, readFileSync(join(fixtures, version, 'postgres.sql'), 'utf8'));
    const { request } = await startProgram(t, [], { variables: { ...variables, SIGNALBOX_STORE: url } });
    const expected = readExpected(version, 'expected-postgres.json');
    assertShows(await readAll(request, expected), expected);
    const { status } = await request('POST', '/api/tasks', { body: { Title: 'after the upgrade' } });
    assert.equal(status, 201);
  });
}
