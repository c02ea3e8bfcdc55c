import assert from 'node:assert/strict';
import { features } from '../../src/features/index.ts';
import type { Feature } from '../../src/kit/feature.ts';
import { startApp, type TestApp } from './app.ts';
import { adminToken } from './outbox.ts';
import type { Receiver } from './receiver.ts';
import type { Scope } from './scope.ts';

/** Creates a destination that is notified of each incident immediately and separately. */
export const toIncidentDestination = ({ url }: Receiver, changes: object = {}) => ({
  name: 'pager',
  type: 'webhook',
  url: `${url}/hook`,
  notify: 'incidents',
  groupSeconds: 0,
  ...changes,
});

interface Payload {
  data: { incidents: { what: string; number: number; title: string }[] };
}

/** Reads the changes in the body of a webhook, such as `opened #1 disk is full`, one per incident. */
export const readNotificationTexts = (body: string): string[] =>
  (JSON.parse(body) as Payload).data.incidents.map(({ what, number, title }) => `${what} #${number} ${title}`);

/** Returns the notifications that a receiver got. */
export const messagesTo = ({ requests }: Receiver): string[] =>
  requests.flatMap(({ body }) => readNotificationTexts(body));

/** Returns all features with a clock that the test controls. */
export const withClock = (clock: () => Date): Feature[] =>
  features.map((feature) => ({ ...feature, create: (parts) => feature.create({ ...parts, clock }) }));

/** Starts an app with these destinations. */
export const startNotifier = (
  t: Scope,
  destinations: object[],
  settings: object = {},
  options: { features?: readonly Feature[] } = {},
): Promise<TestApp> => startApp(t, { settings: { destinations, ...settings }, ...options });

/** Stores an alert with its own key. */
export const fire = async (app: TestApp, key: string, fields: object = {}): Promise<void> => {
  const body = { key, level: 'ERROR', source: 'backup', message: `${key} is broken`, ...fields };
  const { status } = await app.request('POST', '/api/alert', { body });
  assert.equal(status, 200);
};

/** Applies a person's action to an incident. */
export const act = async (app: TestApp, number: number, action: string, body: object = {}): Promise<void> => {
  const { status, text } = await app.request('POST', `/api/incidents/${number}/${action}`, {
    body,
    token: await adminToken(app),
  });
  assert.equal(status, 200, text);
};

export interface Timeline {
  timeline: { type: string; destination: string | null; what: string | null; result: string | null }[];
  notifications: {
    destination: string;
    last: { what: string } | null;
    next: { what: string; dueAt: string | null; waitsFor: string; attempts: number; error: string | null } | null;
  }[];
  version: number;
  state: string;
}

export const readIncident = async (app: TestApp, number: number): Promise<Timeline> => {
  const { json } = await app.request<Timeline>('GET', `/api/incidents/${number}`);
  return json;
};
