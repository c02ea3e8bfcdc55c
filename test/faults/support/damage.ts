import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startApp, type TestApp } from '../../support/app.ts';

export interface Log {
  dataDir: string;
  file: string;
  /** The file's bytes, as the server wrote them. */
  bytes: Buffer;
  /** Where each of its lines begins. */
  starts: number[];
}

/** The alert profile on a data directory. */
export const startAlerts = (t: TestContext, dataDir: string): Promise<TestApp> =>
  startApp(t, { settings: { dataDir, profiles: ['alerts'] } });

/** A log with as many alerts, whose messages are `alert 1` and so on. */
export const createLog = async (t: TestContext, folder: string, count: number): Promise<Log> => {
  const dataDir = join(folder, 'data');
  const app = await startAlerts(t, dataDir);
  for (let number = 1; number <= count; number++) await store(app, `alert ${number}`);
  await app.close();
  const file = join(dataDir, 'alerts.jsonl');
  const bytes = readFileSync(file);
  const starts = [0];
  for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', end + 1)) starts.push(end + 1);
  return { dataDir, file, bytes, starts: starts.slice(0, -1) };
};

/** Puts the parts together as a data directory's log. */
export const writeLog = (dataDir: string, parts: (string | Buffer)[]): void => {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'alerts.jsonl'), Buffer.concat(parts.map((part) => Buffer.from(part))));
};

/** Sends an alert; answers whether it was stored. */
export const store = async (app: TestApp, message: string): Promise<boolean> => {
  const { status } = await app.request('POST', '/api/alert', { body: { message } });
  return status === 200;
};

/** Messages of the last alerts, oldest first. */
export const listMessages = async (app: TestApp, count = 100): Promise<string[]> => {
  const { json } = await app.request<{ data: { message: string }[] }>('GET', `/api/alerts?count=${count}`);
  return json.data.map(({ message }) => message);
};
