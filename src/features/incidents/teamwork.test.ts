import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestApp } from '../../../test/support/app.ts';
import { fire, messagesTo, startNotifier, toIncidentDestination } from '../../../test/support/notifications.ts';
import { waitForRequests } from '../../../test/support/outbox.ts';
import { createPerson, putPolicy } from '../../../test/support/people.ts';
import { startReceiver } from '../../../test/support/receiver.ts';
import type { Scope } from '../../../test/support/scope.ts';
import { waitUntil } from '../../../test/support/wait.ts';

const name = '#1 disk is broken';

/** Starts an app with an open incident, and with the Readers anna and ben, who each have one way. */
const startTeam = async (t: Scope) => {
  const [anna, ben, room] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  const app = await startNotifier(t, [toIncidentDestination(room)]);
  const tokens = { anna: await createPerson(app, 'anna', anna), ben: await createPerson(app, 'ben', ben) };
  await fire(app, 'disk');
  await waitForRequests(room, 1);
  const act = (by: 'anna' | 'ben', action: string, body?: object) =>
    app.request<Shown>('POST', `/api/incidents/1/${action}`, { token: tokens[by], ...(body && { body }) });
  return { app, anna, ben, act, tokens };
};

interface Shown {
  state: string;
  acknowledgedBy: string | null;
  responders: string[];
  version: number;
}

const ownOf = async (app: TestApp, token: string): Promise<number> =>
  (await app.request<{ total: number }>('GET', '/api/incidents?mine=true', { token })).json.total;

test('the filter mine finds incidents that a person acknowledged, was asked to help with, or is notified of by a step', async (t) => {
  const { app, act, tokens } = await startTeam(t);
  assert.equal((await app.request('GET', '/api/incidents?mine=true')).status, 400);
  assert.deepEqual([await ownOf(app, tokens.anna), await ownOf(app, tokens.ben)], [0, 0]);
  await act('anna', 'acknowledge');
  const read = async () => (await app.request<{ responsible: string[] }>('GET', '/api/incidents/1')).json.responsible;
  assert.deepEqual([await ownOf(app, tokens.anna), await ownOf(app, tokens.ben)], [1, 0]);
  assert.deepEqual(await read(), ['person:anna']);
  await act('ben', 'take-over');
  assert.deepEqual([await ownOf(app, tokens.anna), await ownOf(app, tokens.ben)], [0, 1]);
  await act('ben', 'responders', { people: ['anna'] });
  assert.deepEqual([await ownOf(app, tokens.anna), await ownOf(app, tokens.ben)], [1, 1]);
  await act('ben', 'reopen');
  assert.deepEqual(await read(), []);
  await putPolicy(app, { steps: [{ notify: ['person:ben'], wait: '5 minutes' }] });
  await fire(app, 'fan');
  await waitUntil('the first step addresses ben', async () => {
    const { json } = await app.request<{ responsible: string[] }>('GET', '/api/incidents/2');
    return json.responsible.join() === 'person:ben';
  });
  assert.deepEqual([await ownOf(app, tokens.anna), await ownOf(app, tokens.ben)], [1, 1]);
});

const typesOf = async (app: TestApp): Promise<string[]> => {
  const { json } = await app.request<{ timeline: { type: string; cause: string | null }[] }>('GET', '/api/incidents/1');
  return json.timeline.flatMap(({ type, cause }) => (type === 'notified' ? [] : [cause ?? type]));
};

test('a person takes over an incident, and the previous owner is notified once', async (t) => {
  const { app, anna, ben, act } = await startTeam(t);
  const first = await act('anna', 'take-over');
  assert.deepEqual([first.status, first.json.state, first.json.acknowledgedBy], [200, 'acknowledged', 'anna']);
  const again = await act('anna', 'take-over');
  assert.equal(again.json.version, first.json.version);
  const taken = await act('ben', 'take-over', { comment: 'I am at the desk' });
  assert.deepEqual([taken.status, taken.json.acknowledgedBy], [200, 'ben']);
  await waitForRequests(anna, 1);
  assert.match(anna.requests[0]?.body ?? '', /ben has taken over: ERROR #1/);
  assert.deepEqual(await typesOf(app), ['opened', 'acknowledged', 'acknowledged', 'takeOver']);
  assert.deepEqual([messagesTo(anna), messagesTo(ben)], [[`addressed ${name}`], []]);
  await act('ben', 'resolve');
  assert.equal((await act('anna', 'take-over')).status, 409);
  assert.equal((await act('anna', 'responders', { people: ['ben'] })).status, 409);
});

test('people who are asked to help are notified and listed as responders', async (t) => {
  const { anna, ben, act } = await startTeam(t);
  await act('anna', 'acknowledge');
  const unknown = await act('anna', 'responders', { people: ['ben', 'carl'] });
  assert.deepEqual([unknown.status, unknown.json], [400, { error: 'people: there is no user carl' }]);
  assert.equal((await act('anna', 'responders', { people: [] })).status, 400);
  const asked = await act('anna', 'responders', { people: ['ben', 'ben'], comment: 'you know this disk' });
  assert.deepEqual([asked.status, asked.json.responders, asked.json.state], [200, ['ben'], 'acknowledged']);
  await waitForRequests(ben, 1);
  assert.match(ben.requests[0]?.body ?? '', /anna asks you to help: ERROR #1/);
  await act('anna', 'comment', { comment: '@ben?' });
  await waitForRequests(ben, 2);
  const kept = await act('anna', 'responders', { people: ['anna'] });
  assert.deepEqual(kept.json.responders, ['ben', 'anna']);
  await waitForRequests(anna, 1);
});

test('a comment notifies the people that it mentions, except its author', async (t) => {
  const { app, anna, ben, act } = await startTeam(t);
  const comment = '@ben, is ops@anna the owner? @anna @ben @nobody';
  assert.equal((await act('anna', 'comment', { comment })).status, 200);
  await waitForRequests(ben, 1);
  assert.match(ben.requests[0]?.body ?? '', /anna mentions you: ERROR #1/);
  assert.deepEqual(await typesOf(app), ['opened', 'comment', 'mention']);
  await act('ben', 'comment', { comment: 'done' });
  await act('ben', 'take-over');
  assert.deepEqual(await typesOf(app), ['opened', 'comment', 'mention', 'comment', 'acknowledged']);
  assert.deepEqual(messagesTo(anna), []);
});
