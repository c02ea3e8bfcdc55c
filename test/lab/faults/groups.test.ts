import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { openJournal } from '../../../src/storage/journal/journal.ts';
import { rounds } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { extension, loader } from '../../support/source.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { atExit } from './support/exit.ts';

const module = new URL(`../../../src/storage/journal/journal${extension}`, import.meta.url).href;
const groupBytes = 3_000_000;

/**
 * Script that stores groups of 2 to 6 large records until it is killed. It prints the number of each acknowledged
 * group.
 */
const script = `
  import { writeSync } from 'node:fs';
  import { openJournal } from ${JSON.stringify(module)};
  const [, directory] = process.argv;
  const journal = await openJournal({ directory, name: 'log', segmentBytes: ${8 * groupBytes}, retainSegments: 1 });
  for (let group = 0; ; group += 1) {
    const count = 2 + (group % 5);
    const text = 'x'.repeat(${groupBytes} / count);
    await journal.appendAll(Array.from({ length: count }, (_, index) => ({ group, index, count, text })));
    writeSync(1, group + '\\n');
  }`;

const startWriter = (directory: string): ChildProcess => {
  const args = [...loader, '--input-type=module', '-e', script, directory];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
};

/** Polls the log file continuously until it has grown by a number of bytes. */
const waitForGrowth = (file: string, bytes: number): void => {
  const sizeOf = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const before = sizeOf();
  const deadline = performance.now() + 2000;
  for (let size = before; size >= before && size < before + bytes && performance.now() < deadline; ) size = sizeOf();
};

interface Stored {
  group: number;
  index: number;
  count: number;
}

const readLog = async (directory: string, onTorn: () => void): Promise<Stored[]> => {
  const report = ({ type }: { type: string }): void => void (type === 'tail-cut' && onTorn());
  const journal = await openJournal({ directory, name: 'log', segmentBytes: 8 * groupBytes, report });
  const listing = await journal.listLast(10_000);
  const stored: Stored[] = [];
  for await (const record of listing.records()) stored.push(record as unknown as Stored);
  await listing.close();
  await journal.close();
  return stored;
};

test('after kill -9 in the middle of a group the log contains all its records or none', async (t) => {
  const { next: random } = createRandom();
  const total = rounds(6, 300);
  let acknowledged = 0;
  let torn = 0;
  for (let round = 0; round < total; round += 1) {
    const directory = createTemporaryFolder(t);
    const child = startWriter(directory);
    const forget = atExit(() => child.kill('SIGKILL'));
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    await once(child.stdout ?? child, 'data');
    waitForGrowth(`${directory}/log.jsonl`, random() * 2 * groupBytes);
    child.kill('SIGKILL');
    await once(child, 'close');
    forget();
    const known = printed.split('\n').filter((line) => line !== '');
    acknowledged += known.length;
    const stored = await readLog(directory, () => {
      torn += 1;
    });
    for (const [place, { group, index, count }] of stored.entries()) {
      const first = stored[place - index];
      assert.deepEqual([first?.group, first?.index], [group, 0]);
      assert.equal(stored[place - index + count - 1]?.group, group);
    }
    const groups = new Set(stored.map(({ group }) => group));
    const oldest = stored[0]?.group ?? 0;
    const lost = known.map(Number).filter((group) => group >= oldest && !groups.has(group));
    assert.deepEqual(lost, []);
  }
  t.diagnostic(`kill -9 in groups: ${total} rounds, ${acknowledged} acknowledged, 0 lost, ${torn} cut in the middle`);
});
