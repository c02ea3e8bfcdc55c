import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { TextAnswer } from './answer.ts';
import { gather } from './gather.ts';

const responses = ['first', 'second', 'third'] as unknown as ServerResponse[];
const answer: TextAnswer = { text: '{}' };

test('what is answered in one turn is written at its end, in the order of the answers, and once', async () => {
  const written: ServerResponse[] = [];
  const write = gather((response) => written.push(response));
  for (const response of responses.slice(0, 2)) write(response, answer);
  assert.deepEqual(written, []);
  await setImmediate();
  assert.deepEqual(written, responses.slice(0, 2));
  write(responses[2] as ServerResponse, answer);
  await setImmediate();
  assert.deepEqual(written, responses);
});
