import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { type PostgresServer, runSql } from './postgres/server.ts';
import { waitUntil } from './wait.ts';

/** Maximum milliseconds until an alert is accepted while the database hangs. The program itself takes one second. */
const acceptedMs = 3000;

/** Sends an alert that must be accepted within the limit. */
export const sendInTime = async (
  { request }: Pick<TestApp, 'request'>,
  message: string,
  headers: Record<string, string> = {},
): Promise<string> => {
  const begun = performance.now();
  const { status, json, text } = await request('POST', '/api/alert', { body: { message }, headers });
  assert.equal(status, 200, text);
  assert.ok(performance.now() - begun < acceptedMs, `accepted after ${performance.now() - begun} ms`);
  return json['id'] as string;
};

interface StoredAlert {
  id: string;
  message: string;
}

export const readAlertTable = (server: PostgresServer): Promise<StoredAlert[]> =>
  runSql(server.url(), `SELECT id, body::json->>'message' AS message FROM signalbox.alert ORDER BY seq`);

/** Waits until the table has a number of alerts. */
export const waitForStored = (server: PostgresServer, count: number): Promise<void> =>
  waitUntil(`${count} alerts are in the table`, async () => (await readAlertTable(server)).length >= count);
