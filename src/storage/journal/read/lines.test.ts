import assert from 'node:assert/strict';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { fc } from '../../../../test/support/random.ts';
import { findLastLineEnd, type Line, readLinesBackwards, toReadAt } from './lines.ts';

const limit = 50_000;

const readLines = async (handle: FileHandle, end: number): Promise<Line[]> => {
  const lines: Line[] = [];
  for await (const some of readLinesBackwards(toReadAt(handle), end, limit)) {
    lines.push(...some);
  }
  return lines;
};

const openFile = async (t: TestContext) => {
  const handle = await open(join(createFolder(t), 'file'), 'w+');
  t.after(() => handle.close());
  return handle;
};

test('lines are read backwards with their offsets, whatever their lengths and the block borders', async (t) => {
  const handle = await openFile(t);
  const lengths = fc.array(fc.oneof(fc.nat(30), fc.nat(limit + 1000), fc.constantFrom(16383, 16384, 16385)), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(lengths, async (sizes) => {
      const lines = sizes.map((size, index) => String.fromCharCode(97 + index).repeat(size));
      const text = lines.join('\n');
      await handle.truncate(0);
      await handle.write(text, 0);
      const found: (string | undefined)[] = [];
      for (const { start, length, bytes } of await readLines(handle, text.length)) {
        assert.equal(length > limit, bytes === undefined);
        assert.ok(bytes === undefined || bytes.toString() === text.slice(start, start + length));
        found.unshift(text.slice(start, start + length));
      }
      assert.deepEqual(found, lines.length > 0 ? lines : ['']);
      assert.equal(await findLastLineEnd(toReadAt(handle), text.length), text.lastIndexOf('\n') + 1);
    }),
    { numRuns: 150 },
  );
});

test('reading ends early if the file is cut meanwhile', async (t) => {
  const handle = await openFile(t);
  await handle.write('one\ntwo\n');
  const lines = await readLines(handle, 100);
  assert.deepEqual(
    lines.map(({ bytes }) => bytes?.toString()),
    ['', 'two', 'one'],
  );
});
