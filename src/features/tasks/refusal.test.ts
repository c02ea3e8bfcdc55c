import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../../test/support/server.ts';
import { toTaskRefusal } from './refusal.ts';
import { NewTask } from './schema.ts';

const priority = 'Priority must be one of: Low, Medium, High, Critical';
const status = 'Status must be one of: Pending, InProgress, Completed, Cancelled';
const required = 'Title is required';
const tooLong = 'Title must not exceed 200 characters';

test('every broken rule of a task is reported, in the order of the fields and rules', async (t) => {
  const { request } = startServer(t, { schema: { body: NewTask }, schemaErrorFormatter: toTaskRefusal });
  const cases: [unknown, string[]][] = [
    [{}, [required]],
    [{ Title: ' \u0085\t' }, [required]],
    [{ Title: ' '.repeat(201) }, [required, tooLong]],
    [{ Title: '\u{1F600}'.repeat(201) }, [tooLong]],
    [{ Title: 1 }, ['Title must be a string']],
    [{ Title: 'a', Description: [] }, ['Description must be a string']],
    [{ Title: 'a', Priority: '' }, [priority]],
    [{ Title: 'a', Priority: 1 }, ['Priority must be a string']],
    [{ Title: 'a', Status: 'pending' }, [status]],
    [{ Title: 'a', Status: {} }, ['Status must be a string']],
    [{ Status: 'x', Priority: 'y', Description: 1 }, [required, 'Description must be a string', priority, status]],
    [
      { Status: 1, Priority: true, Description: 1, Title: [] },
      ['Title', 'Description', 'Priority', 'Status'].map((field) => `${field} must be a string`),
    ],
    [{ Status: 1, Priority: 'x', Title: ' '.repeat(201) }, [required, tooLong, priority, 'Status must be a string']],
  ];
  for (const [sent, detail] of cases) {
    const answer = await request(JSON.stringify(sent));
    assert.deepEqual(answer, { status: 400, json: { error: 'Validation failed', detail } }, JSON.stringify(sent));
  }
});

test('a valid task is accepted', async (t) => {
  const { request } = startServer(t, { schema: { body: NewTask }, schemaErrorFormatter: toTaskRefusal });
  const body = { Title: '\u{1F600}'.repeat(200), Description: '', Priority: 'Low', Status: 'Cancelled' };
  assert.deepEqual(await request(JSON.stringify(body)), { status: 200, json: { query: {}, body } });
});
