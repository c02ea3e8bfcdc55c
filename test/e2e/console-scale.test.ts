import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openBrowser, toSkip } from './browser.ts';
import { openConsole } from './console.ts';
import { describeScrolling, measureMemory, measureScrolling } from './measure.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** Milliseconds of work in a frame, and megabytes of a tab. */
const most = { work: 50, memory: 150 };

test('100,000 tasks scroll in a table and on a board with less than 50 ms of work in a frame and 150 MB of memory', {
  skip,
}, async (t) => {
  assert.ok(browser);
  const tasks = Array.from({ length: 100_000 }, (_, index) => ({ Title: `task number ${index + 1}` }));
  const app = await startApp(t, { seed: { tasks } });
  const started = performance.now();
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/tasks' });
  await page.getByRole('button', { name: 'task number 100000', exact: true }).waitFor();
  t.diagnostic(`100,000 tasks are shown after ${Math.round(performance.now() - started)} ms`);
  for (const view of ['table', 'board']) {
    await page.goto(`/console/#/tasks?view=${view}`);
    await page.getByText('100,000 rows').waitFor();
    const scrolling = await measureScrolling(browser, page);
    t.diagnostic(`${view}: ${describeScrolling(scrolling)}`);
    assert.ok((scrolling.work[0] ?? Infinity) < most.work);
    assert.ok((await page.getByRole('button', { name: /^task number/ }).count()) > 10);
    assert.ok((await page.locator('*').count()) < 6000);
  }
  const memory = await measureMemory(browser, page);
  t.diagnostic(`memory: JavaScript heap ${memory.heap.toFixed(0)} MB, whole process ${memory.process.toFixed(0)} MB`);
  assert.ok(memory.heap < most.memory);
  assert.ok(memory.process < most.memory);
  assert.deepEqual(complaints, []);
});
