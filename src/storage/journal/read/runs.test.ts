import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/random.ts';
import { Runs } from './runs.ts';

/** Reads from a text like from a file. */
const readFrom = (text: string) => async (buffer: Buffer, position: number) =>
  Buffer.from(text).copy(buffer, 0, position);

const readAll = async (runs: Runs, text: string): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of runs.readLines(readFrom(text))) {
    lines.push(line.toString());
  }
  return lines;
};

const sizes = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(65_534, 65_535, 65_536, 140_000));

test('the added lines are read back in order, whatever lies between them', async () => {
  const lines = fc.array(fc.record({ size: sizes, isChosen: fc.boolean() }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), async (chosen, endsWithNewline) => {
      const texts = chosen.map(({ size }, index) => String.fromCharCode(97 + index).repeat(size));
      const runs = new Runs();
      let end = texts.join('\n').length;
      for (const { size, isChosen } of [...chosen].reverse()) {
        if (isChosen) runs.add({ start: end - size, length: size, bytes: undefined });
        end -= size + 1;
      }
      const expected = texts.filter((_, index) => chosen[index]?.isChosen);
      assert.deepEqual(await readAll(runs, texts.join('\n') + (endsWithNewline ? '\n' : '')), expected);
    }),
    { numRuns: 150 },
  );
});

test('reading fails if the file was cut after its lines were added', async () => {
  const runs = new Runs();
  runs.add({ start: 4, length: 3, bytes: undefined });
  await assert.rejects(readAll(runs, 'one\ntw'), { message: 'the log was cut while it was read' });
});
