import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../../support/app.ts';
import type { RawAnswer } from './answers.ts';
import { openConnection } from './connection.ts';

/** What a client sends, byte for byte, and what must come back. */
export interface Case {
  /** RFC and section, e.g. `9112 6.3`. */
  rule: string;
  /** Present-tense statement. */
  text: string;
  send: string;
  /** Statuses that each answer in turn may have; one list means one answer. */
  answers: readonly (readonly number[])[];
  /** Whether the server closes the connection; otherwise it must answer another request on it. */
  closes: boolean;
  /** Whether the client ends its side after sending. */
  ends?: boolean;
}

/** What must never come into being: a case that hides a request within another gives its task this title. */
export const smuggled = 'smuggled';

const follower = 'GET /api/tasks/0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

/** Runs the cases one after another against one server. */
export const runCases = (subject: string, cases: readonly Case[]): void => {
  test(subject, async (t) => {
    const url = await listen(t);
    for (const each of cases) {
      await t.test(`RFC ${each.rule}: ${each.text}`, async () => {
        await runCase(url, each);
        await assertUnharmed(url);
      });
    }
  });
};

const listen = async (t: TestContext): Promise<string> => {
  const { server } = await startApp(t, {
    settings: { profiles: ['T'] },
    seed: { tasks: [{ Title: 'one' }] },
  });
  return server.listen({ host: '127.0.0.1', port: 0 });
};

const runCase = async (url: string, { send, answers, closes, ends }: Case): Promise<void> => {
  const connection = openConnection(url);
  connection.send(send);
  if (ends) connection.end();
  const expected = closes ? answers : [...answers, [404]];
  if (!closes) {
    await connection.answers(answers.length);
    connection.send(follower);
  }
  const { answers: got, rest } = await connection.closed();
  assert.deepEqual([got.length, rest], [expected.length, ''], JSON.stringify(got));
  for (const [index, answer] of got.entries()) assertAnswer(answer, expected[index] ?? []);
  for (const { headers } of got.slice(-1)) assert.equal(headers.get('connection'), 'close');
};

const assertAnswer = ({ status, headers, body }: RawAnswer, statuses: readonly number[]): void => {
  assert.ok(statuses.includes(status), `${status} ${body}`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  if (status < 400) return;
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  const { error } = JSON.parse(body) as { error: unknown };
  assert.ok(typeof error === 'string' && error !== '', body);
};

/** The server still answers others, and has acted on nothing that was hidden. */
const assertUnharmed = async (url: string): Promise<void> => {
  const response = await fetch(`${url}/api/tasks?limit=1000`);
  assert.equal(response.status, 200);
  assert.equal((await response.text()).includes(smuggled), false);
};
