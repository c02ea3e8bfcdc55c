import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../../support/app.ts';
import type { Request } from '../../support/client.ts';
import { openConnection } from '../../support/connection.ts';
import type { HttpResponse } from '../../support/response.ts';

/** Bytes that a client sends, and the expected responses. */
export interface Case {
  /** RFC and section, e.g. `9112 6.3`. */
  rule: string;
  /** Present-tense statement. */
  text: string;
  send: string;
  /** Allowed statuses of each response in turn. A single list means that there is a single response. */
  answers: readonly (readonly number[])[];
  /** True if the server closes the connection. Otherwise, it must answer another request on the connection. */
  closes: boolean;
  /** True if the client closes its side after sending. */
  ends?: boolean;
}

/** Title of tasks in smuggled requests. A task with this title must never exist. */
export const smuggled = 'smuggled';

const follower = 'GET /api/tasks/0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

/** Runs the cases one after another against one server. */
export const runCases = (subject: string, cases: readonly Case[]): void => {
  test(subject, async (t) => {
    const { url, request } = await startApp(t, {
      settings: { profiles: ['T'] },
      seed: { tasks: [{ Title: 'one' }] },
    });
    for (const each of cases) {
      await t.test(`RFC ${each.rule}: ${each.text}`, async () => {
        await runCase(url, each);
        await assertUnharmed(request);
      });
    }
  });
};

const runCase = async (url: string, { send, answers, closes, ends }: Case): Promise<void> => {
  const connection = openConnection(url);
  connection.send(send);
  if (ends) connection.end();
  const got: HttpResponse[] = [];
  if (!closes) {
    got.push(...(await connection.responses(answers.length)));
    connection.send(follower);
  }
  got.push(...(await connection.closed()).responses);
  const expected = closes ? answers : [...answers, [404]];
  assert.equal(got.length, expected.length, got.map(({ status }) => status).join());
  for (const [index, response] of got.entries()) assertResponse(response, expected[index] ?? []);
  for (const { headers } of got.slice(-1)) assert.equal(headers.get('connection'), 'close');
};

const assertResponse = ({ status, headers, body }: HttpResponse, statuses: readonly number[]): void => {
  assert.ok(statuses.includes(status), `${status} ${body}`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  if (status < 400) return;
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  const { error } = JSON.parse(String(body)) as { error: unknown };
  assert.ok(typeof error === 'string' && error !== '', String(body));
};

/** Asserts that the server still serves other clients, and has processed no smuggled request. */
const assertUnharmed = async (request: Request): Promise<void> => {
  const { status, text } = await request('GET', '/api/tasks?limit=1000');
  assert.equal(status, 200);
  assert.equal(text.includes(smuggled), false);
};
