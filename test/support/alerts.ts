import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alerts } from '../../src/features/alerts/index.ts';
import { features } from '../../src/features/index.ts';
import type { Feature } from '../../src/kit/feature.ts';
import type { Journal } from '../../src/storage/journal/journal.ts';
import type { TestApp } from './app.ts';

export const disk = { source: 'disk', level: 'ERROR', message: 'sda1 is full', hostname: 'web-1' };

interface AlertPage {
  count: number;
  data: Record<string, string>[];
}

/** Returns the path of the app's alert log. */
export const fileOf = ({ folder }: TestApp): string => join(folder, 'data', 'alerts.jsonl');

/** Reads the records in the app's log. */
export const readRecords = async (app: TestApp): Promise<Record<string, unknown>[]> => {
  const text = await readFile(fileOf(app), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
};

/** Returns all features, with `change` applied to the alert journal. */
export const changeJournal = (change: (journal: Journal) => Journal): Feature[] => {
  const changed: Feature = {
    ...alerts,
    create: ({ storage, ...parts }) =>
      alerts.create({ ...parts, storage: { ...storage, log: async (...args) => change(await storage.log(...args)) } }),
  };
  return features.map((feature) => (feature === alerts ? changed : feature));
};

/** Sends an alert that must be stored. Resolves to its id. */
export const sendAlert = async (app: TestApp, body: unknown): Promise<string> => {
  const { status, json } = await app.request('POST', '/api/alert', { body });
  assert.equal(status, 200);
  return String(json['id']);
};

/** Lists the messages in the response to a query. */
export const listMessages = async (app: TestApp, query = ''): Promise<unknown[]> => {
  const { status, json } = await app.request<AlertPage>('GET', `/api/alerts${query}`);
  assert.equal(status, 200);
  assert.equal(json.count, json.data.length);
  return json.data.map(({ message }) => message);
};
