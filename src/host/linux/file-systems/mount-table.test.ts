import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/random.ts';
import { parseMounts, toVisibleMounts } from './mount-table.ts';

const toPaths = (lines: string[]): string[] =>
  toVisibleMounts(parseMounts(lines.join('\n'))).map(({ id, mountPath }) => `${id} ${mountPath}`);

const toLine = (id: number, parent: number, path: string): string =>
  `${id} ${parent} 0:${id} / ${path} rw - tmpfs tmpfs rw`;

const escapeOctal = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`);

test('a line is parsed with any number of optional fields', () => {
  const expected = { id: 27, parentId: 1, device: '254:0', mountPath: '/', type: 'ext4', source: '/dev/vda' };
  for (const optional of ['', 'shared:1 ', 'shared:1 master:2 propagate_from:3 unbindable ']) {
    const line = `27 1 254:0 / / rw,relatime ${optional}- ext4 /dev/vda rw,discard\n`;
    assert.deepEqual(parseMounts(line), [expected]);
  }
});

test('a source may be empty', () => {
  assert.equal(parseMounts('1 0 0:1 / /x rw - tmpfs  rw\n')[0]?.source, '');
});

test('any path is unescaped correctly', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(' ', '\\', '\n', '\t', '-', '0', 'ü', '/', 'a') }), (name) => {
      const [mount] = parseMounts(`1 0 8:1 / /${escapeOctal(name)} rw - ext4 ${escapeOctal(name)} rw\n`);
      assert.equal(mount?.mountPath, `/${name}`);
      assert.equal(mount.source, name);
    }),
  );
});

test('a mount on top of another one is the visible one', () => {
  assert.deepEqual(toPaths([toLine(1, 0, '/'), toLine(2, 1, '/mnt'), toLine(3, 2, '/mnt')]), ['1 /', '3 /mnt']);
});

test('mounts below a covered mount are hidden with it', () => {
  const lines = [toLine(1, 0, '/'), toLine(2, 1, '/a'), toLine(3, 2, '/a/b'), toLine(4, 2, '/a')];
  assert.deepEqual(toPaths(lines), ['1 /', '4 /a']);
});

test('a mount on a parent folder hides the mounts below it', () => {
  const lines = [toLine(1, 0, '/'), toLine(2, 1, '/a/b/c'), toLine(3, 1, '/a'), toLine(4, 1, '/ab')];
  assert.deepEqual(toPaths(lines), ['1 /', '3 /a', '4 /ab']);
});

test("visible mounts do not depend on the table's order or on the root's parent", () => {
  assert.deepEqual(toPaths([toLine(2, 1, '/proc'), toLine(1, 1, '/')]), ['2 /proc', '1 /']);
});
