import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findWriteProblem, listFileWarnings } from './file-modes.ts';

const skip = process.platform === 'win32' && 'Windows has no file modes';

const createFile = (t: TestContext, mode: number): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-file-modes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'settings.json');
  writeFileSync(path, '{}');
  chmodSync(path, mode);
  return path;
};

test('a config file to which everyone can write is refused with one line of advice', { skip }, (t) => {
  for (const mode of [0o602, 0o666, 0o777]) {
    const path = createFile(t, mode);
    assert.equal(
      findWriteProblem(path),
      `other accounts can write to the config file ${path}: run chmod go-w on the file`,
    );
  }
  for (const mode of [0o600, 0o640, 0o644, 0o400]) assert.equal(findWriteProblem(createFile(t, mode)), undefined);
});

test("a config file to which a group can write is refused, unless the group is the owner's own", (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can give a file to a group');
  const path = createFile(t, 0o660);
  chownSync(path, 1234, 1234);
  assert.equal(findWriteProblem(path), undefined);
  chownSync(path, 1234, 100);
  assert.match(findWriteProblem(path) ?? '', /^other accounts can write to/);
});

test('a config file that others can read is reported if it holds secrets', { skip }, (t) => {
  const path = createFile(t, 0o644);
  assert.deepEqual(listFileWarnings(path, true), [
    `other accounts can read the secrets in the config file ${path}: run chmod o-r on the file`,
  ]);
  assert.deepEqual(listFileWarnings(path, false), []);
  assert.deepEqual(listFileWarnings(createFile(t, 0o640), true), []);
});

test('a config file in a folder where others can replace it is reported, also through a link', { skip }, (t) => {
  const path = createFile(t, 0o600);
  const folder = join(path, '..', 'open', 'inner');
  mkdirSync(folder, { recursive: true });
  chmodSync(join(folder, '..'), 0o777);
  const [inside, link] = [join(folder, 'in.json'), join(folder, 'link.json')];
  writeFileSync(inside, '{}', { mode: 0o600 });
  symlinkSync(path, link);
  for (const name of [inside, link]) {
    assert.deepEqual(listFileWarnings(name, true), [
      `other accounts can replace the config file ${name}: run chmod o-w on the folder ${join(folder, '..')}`,
    ]);
  }
  chmodSync(join(folder, '..'), 0o1777);
  assert.deepEqual(listFileWarnings(inside, true), []);
});

test('only regular files are checked for their mode', { skip }, () => {
  assert.equal(findWriteProblem('/dev/null'), undefined);
  assert.deepEqual(listFileWarnings('/dev/null', true), []);
});
