import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { hubKeyVariable } from '../../kit/hub.ts';
import { createUnit, storeKey } from './install.ts';

const url = 'https://desk.example';

test('the unit has absolute paths of the authority and the config file', () => {
  const unit = createUnit(url, { ca: 'ca.pem', config: '../agent.json' });
  assert.ok(unit.includes(` --ca ${resolve('ca.pem')} --config ${resolve('../agent.json')} `), unit);
});

test('the key of the variable or of a readable file is stored in a file that only its owner can read', (t) => {
  const folder = createFolder(t);
  const given = join(folder, 'given');
  const keyFile = join(folder, 'hub.key');
  const assertKey = (key: string) => {
    assert.equal(readFileSync(keyFile, 'utf8'), `${key}\n`);
    assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  };
  process.env[hubKeyVariable] = 'sbk_variable';
  t.after(() => delete process.env[hubKeyVariable]);
  storeKey({ url }, { keyFile: undefined }, keyFile);
  assertKey('sbk_variable');
  writeFileSync(given, 'sbk_file', { mode: 0o644 });
  storeKey({ url, keyFile: given }, { keyFile: given }, keyFile);
  assertKey('sbk_file');
  storeKey({ url, keyFile }, { keyFile: undefined }, keyFile);
  assertKey('sbk_file');
  process.env[hubKeyVariable] = 'two words';
  assert.throws(() => storeKey({ url }, { keyFile: undefined }, keyFile), /SIGNALBOX_HUB_KEY must contain a key/);
});
