import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder, listNumbers, openTestJournal, waitUntil } from './test-journal.ts';

const moduleUrl = new URL(`./journal${extname(import.meta.url)}`, import.meta.url).href;

const startProgram = (t: TestContext, command: string, args: string[]): ChildProcess => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
};

test('a file that is emptied all the time is never acknowledged from', async (t) => {
  const directory = await createFolder(t);
  const journal = await openTestJournal(t, directory, { retryMs: 5 });
  const script = `for (;;) try { require('fs').truncateSync(${JSON.stringify(journal.file)}) } catch {}`;
  const child = startProgram(t, process.execPath, ['-e', script]);
  let refused = 0;
  await waitUntil(async () => {
    await journal.append({ n: 1 }).catch(({ code }) => {
      assert.equal(code, 'unavailable');
      refused += 1;
    });
    return refused > 0;
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await waitUntil(() =>
    journal.append({ n: 2 }).then(
      () => true,
      () => false,
    ),
  );
  assert.equal((await listNumbers(journal)).at(-1), 2);
});

test('lines that another program appends do not disturb those written here', async (t) => {
  const journal = await openTestJournal(t, await createFolder(t));
  const script = `for (;;) require('fs').appendFileSync(${JSON.stringify(journal.file)}, '{"n":"foreign"}\\n')`;
  const child = startProgram(t, process.execPath, ['-e', script]);
  await waitUntil(() => journal.append({ n: 0 }).then(() => journal.events.length > 0));
  const before = (await listNumbers(journal)).filter((n) => n === 0);
  for (let n = 1; n <= 20; n += 1) {
    await journal.append({ n });
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  const own = (await listNumbers(journal, 10_000_000)).filter((n) => n !== 'foreign');
  assert.deepEqual(
    own.slice(before.length),
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
});

test('a file that may not grow (EFBIG) is cut back and the log goes on in a new one', async (t) => {
  const directory = await createFolder(t);
  const script = `
    import { openJournal } from ${JSON.stringify(moduleUrl)};
    const journal = await openJournal({ directory: ${JSON.stringify(directory)}, name: 'log', maxLineBytes: 9000 });
    const acknowledged = [];
    for (let n = 0; n < 400; n += 1) {
      await journal.append({ n, text: 'x'.repeat(700) }).then(() => acknowledged.push(n), () => undefined);
    }
    await journal.close();
    process.stdout.write(JSON.stringify(acknowledged));`;
  const command = `ulimit -f 64; exec "${process.execPath}" --input-type=module -e "$0"`;
  const child = startProgram(t, 'bash', ['-c', command, script]);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  assert.deepEqual(await once(child, 'close'), [0, null]);
  const acknowledged: unknown[] = JSON.parse(Buffer.concat(chunks).toString());
  assert.ok(acknowledged.length > 380 && acknowledged.length < 400, `${acknowledged.length} acknowledged`);
  const journal = await openTestJournal(t, directory);
  assert.deepEqual(await listNumbers(journal), acknowledged);
  assert.deepEqual(journal.state().damagedLines, 0);
  assert.ok((await readFile(join(directory, 'log.00000001.jsonl'))).length <= 64 * 1024);
});

test('killed at any moment, the log has every acknowledged record once and in order', async (t) => {
  const directory = await createFolder(t);
  const script = `
    import { openJournal } from ${JSON.stringify(moduleUrl)};
    const journal = await openJournal({ directory: ${JSON.stringify(directory)}, name: 'log', segmentBytes: 20000 });
    const run = async () => {
      for (;;) process.stdout.write((await journal.append({ text: 'x'.repeat(Math.random() * 300) })).id + '\\n');
    };
    for (let client = 0; client < 8; client += 1) void run();`;
  const acknowledged: string[] = [];
  for (let kill = 0; kill < 10; kill += 1) {
    const child = startProgram(t, process.execPath, ['--input-type=module', '-e', script]);
    let text = '';
    const enough = 200 + Math.random() * 20_000;
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      if (text.length > enough) {
        child.kill('SIGKILL');
      }
    });
    assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
    acknowledged.push(...text.split('\n').slice(0, -1));
  }
  const journal = await openTestJournal(t, directory);
  const { count, records } = await journal.listLast(1_000_000);
  const position = new Map<unknown, number>();
  for await (const { id, seq } of records()) {
    position.set(id, position.size);
    assert.equal(seq, position.size);
  }
  assert.equal(position.size, count);
  const positions = acknowledged.map((id) => position.get(id) ?? Number.NaN);
  assert.ok(positions.every((at, index) => index === 0 || at > (positions[index - 1] ?? Number.NaN)));
});
