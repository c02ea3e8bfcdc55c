import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertInvalidTask, assertUnchanged } from './support/assertions.ts';
import { createTask, messages, readTask, startTasks, updateTask } from './support/tasks.ts';

/** Characters of one code point each, but not always one UTF-16 unit or byte. */
const codePoints = ['a', 'é', 'ß', '漢', '\u0301', '\u200d', '\ufe0f', '😀', '𝒳', '𠮷', '\u{10ffff}', '"', '\\', '\n'];

const blanks = [' ', '\t', '\r\n', '\u00a0', '\u3000', '\u2003', '\u2028', '\u0085', ' \u00a0\t\n ', ' '.repeat(200)];

test('a title is stored as sent, untrimmed', async (t) => {
  const app = await startTasks(t);
  const titles = [
    '  x  ',
    '\tx\n',
    '\u00a0x',
    'a\u0000b',
    '\u0000',
    '\u200b',
    '\ud800',
    '<b>&amp;</b>',
    '"\\/"',
    'e\u0301',
  ];
  for (const Title of titles) {
    const { Id, ...task } = await createTask(app, { Title });
    assert.equal(task.Title, Title);
    assert.equal((await readTask(app, Id)).Title, Title);
    assert.equal((await updateTask(app, Id, { Title: `${Title}y ` })).Title, `${Title}y `);
  }
});

test('a title of 200 code points is accepted, with any number of UTF-16 units and bytes', async (t) => {
  const app = await startTasks(t);
  for (const character of codePoints) {
    const Title = `x${character.repeat(199)}`;
    assert.equal((await createTask(app, { Title })).Title, Title);
  }
});

test('a title of 201 code points is rejected, with any characters', async (t) => {
  const app = await startTasks(t);
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const character of codePoints) {
      const body = { Title: `x${character.repeat(200)}` };
      assertInvalidTask(await app.request('POST', '/api/tasks', { body }), [messages.titleTooLong]);
    }
  });
});

test('a combined character counts as its code points', async (t) => {
  const app = await startTasks(t);
  const family = '👨‍👩‍👧';
  assert.equal([...family].length, 5);
  assert.equal((await createTask(app, { Title: family.repeat(40) })).Id, 1);
  const answer = await app.request('POST', '/api/tasks', { body: { Title: family.repeat(41) } });
  assertInvalidTask(answer, [messages.titleTooLong]);
});

test('a title of only white space of any kind is blank', async (t) => {
  const app = await startTasks(t);
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const Title of blanks) {
      const answer = await app.request('POST', '/api/tasks', { body: { Title } });
      assertInvalidTask(answer, [messages.titleRequired]);
    }
  });
});

test('errors come in the order title, priority, status', async (t) => {
  const app = await startTasks(t);
  const all = [messages.titleRequired, messages.titleTooLong, messages.priority, messages.status];
  const body = { Status: 's', Priority: 'p', Title: ' '.repeat(201) };
  assertInvalidTask(await app.request('POST', '/api/tasks', { body }), all);
});
