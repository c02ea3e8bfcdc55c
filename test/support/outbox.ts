import assert from 'node:assert/strict';
import { startApp, type TestApp } from './app.ts';
import type { Receiver } from './receiver.ts';
import type { Scope } from './scope.ts';
import { waitUntil } from './wait.ts';

/** A destination's state in `GET /api/deliveries`. */
export interface State {
  destination: string;
  state: string;
  failingSince: string | null;
  lagAlerts: number;
  lagSeconds: number;
  lastSuccess: string | null;
  lastError: { time: string; reason: string } | null;
  nextAttempt: string | null;
  parked: number;
  parkedAlerts: {
    id: string;
    reason: string;
    severity: string | null;
    source: string | null;
    message: string | null;
  }[];
  waitingAlerts: { id: string; message: string | null; attempts: number; nextAttempt: string | null }[];
  waitingNotices: { number: number; what: string; waitsFor: string; attempts: number; error: string | null }[];
  dropped: number;
}

/** Creates an entry of `destinations` for the receiver: a webhook called `hook` with two immediate retries. */
export const toDestination = ({ url }: Receiver, changes: object = {}) => ({
  name: 'hook',
  type: 'webhook',
  url: `${url}/hook`,
  retrySeconds: [0, 0],
  ...changes,
});

/** Starts an app with these destinations. */
export const startOutbox = (t: Scope, destinations: object[], settings: object = {}): Promise<TestApp> =>
  startApp(t, { settings: { destinations, ...settings } });

const tokens = new WeakMap<TestApp, Promise<string>>();

/** Returns a token for the app's administrator. */
export const adminToken = (app: TestApp): Promise<string> => {
  const token = tokens.get(app) ?? app.login('admin');
  tokens.set(app, token);
  return token;
};

export const readState = async (app: TestApp, name = 'hook'): Promise<State> => {
  const { json } = await app.request<{ data: State[] }>('GET', '/api/deliveries', { token: await adminToken(app) });
  const state = json.data.find(({ destination }) => destination === name);
  assert.ok(state);
  return state;
};

/** Returns the messages in the webhook's requests. */
export const messagesOf = ({ requests }: Receiver): string[] => requests.map(({ body }) => JSON.parse(body).message);

export const waitForRequests = ({ requests }: Receiver, count: number): Promise<void> =>
  waitUntil(`${count} requests have arrived`, () => requests.length >= count);

/** Waits until the destination has nothing left to do. */
export const waitUntilIdle = (app: TestApp, name = 'hook'): Promise<void> =>
  waitUntil(`${name} is idle`, async () => (await readState(app, name)).state === 'idle');

/** Makes the destination send everything again. */
export const retryAll = async (app: TestApp, name = 'hook'): Promise<{ parked: number; waiting: number }> => {
  const { status, json } = await app.request('POST', `/api/deliveries/${name}/retry`, { token: await adminToken(app) });
  assert.equal(status, 200);
  return json as unknown as { parked: number; waiting: number };
};
