import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Type from 'typebox';
import { readSeed } from './seed.ts';
import { SettingsError } from './settings-error.ts';

test('only the first twenty invalid seed records are reported, with the number of the others', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-seed-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'seed.json');
  writeFileSync(path, JSON.stringify({ notes: Array(200_000).fill({ text: 5 }) }));
  const schemas = { notes: Type.Object({ text: Type.String() }) };
  assert.throws(
    () => readSeed(path, schemas),
    (error: Error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(error.message, /seed record notes\[0\]\.text must be a string/);
      assert.match(error.message, /notes\[19\]\.text/);
      assert.doesNotMatch(error.message, /notes\[20\]/);
      assert.match(error.message, /seed file: 199980 more problems in notes/);
      return true;
    },
  );
});
