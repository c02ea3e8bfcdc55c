import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendAlert } from '../../../../test/support/alerts.ts';
import { fire, messagesTo, startNotifier, toIncidentDestination } from '../../../../test/support/notifications.ts';
import {
  messagesOf,
  readState,
  retryAll,
  startOutbox,
  toDestination,
  waitForRequests,
  waitUntilIdle,
} from '../../../../test/support/outbox.ts';
import { answer, type Behaviour, startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { destinationTypes } from '../settings.ts';
import { toDeliveryOutcome } from './outcome.ts';
import { createBackoff } from './retries.ts';

const minutesUntil = (time: string | null | undefined): number => (Date.parse(String(time)) - Date.now()) / 60_000;

/** Answers only requests that do not contain "slow". */
const answerOthers: Behaviour = (response, { body }) => {
  if (!body.includes('slow')) response.end();
};

test('a receiver has timeoutSeconds to respond', async (t) => {
  const receiver = await startReceiver(t, (response) => void setTimeout(() => response.end(), 700));
  const app = await startOutbox(t, [
    toDestination(receiver, { type: 'apprise', url: `${receiver.url}/notify/key`, timeoutSeconds: 20 }),
  ]);
  await sendAlert(app, { message: 'slow' });
  await waitForRequests(receiver, 1);
  await waitUntilIdle(app);
  assert.equal(receiver.requests.length, 1);
});

for (const [what, behaviour] of [
  ['a receiver that does not respond in time', answerOthers],
  [
    'a receiver whose proxy gives up',
    (response, request, index) =>
      request.body.includes('slow') ? answer(504)(response, request, index) : void response.end(),
  ],
] as [string, Behaviour][]) {
  test(`${what} gets the message again after two minutes, and others meanwhile`, async (t) => {
    const receiver = await startReceiver(t, behaviour);
    const app = await startOutbox(t, [toDestination(receiver, { retrySeconds: undefined, timeoutSeconds: 0.3 })]);
    await sendAlert(app, { message: 'slow' });
    await waitUntil('the attempt has failed', async () => (await readState(app)).lastError !== null);
    for (const message of ['second', 'third']) {
      await sendAlert(app, { message });
      await waitUntil('another message is delivered', async () => messagesOf(receiver).includes(message));
    }
    const { waitingAlerts } = await readState(app);
    assert.deepEqual(
      waitingAlerts.map(({ message, attempts }) => [message, attempts]),
      [['slow', 1]],
    );
    const minutes = minutesUntil(waitingAlerts[0]?.nextAttempt);
    assert.ok(minutes > 1.9 && minutes < 2.3, `${minutes}`);
    assert.deepEqual(messagesOf(receiver), ['slow', 'second', 'third']);
    receiver.behave(answer(200));
    await retryAll(app);
    await waitUntilIdle(app);
    assert.deepEqual(messagesOf(receiver), ['slow', 'second', 'third', 'slow']);
  });
}

test('a message about several incidents that is not answered is not sent again in parts', async (t) => {
  const receiver = await startReceiver(t, answerOthers);
  const app = await startNotifier(t, [toIncidentDestination(receiver, { groupSeconds: 1.5, timeoutSeconds: 0.3 })]);
  await Promise.all([fire(app, 'slow'), fire(app, 'other')]);
  await waitUntil('the attempt has failed', async () => (await readState(app, 'pager')).lastError !== null);
  await fire(app, 'third');
  await waitUntil('another message is delivered', () => messagesTo(receiver).length === 3);
  await waitUntil('two wait', async () => (await readState(app, 'pager')).waitingNotices.length === 2);
  assert.equal(receiver.requests.length, 2);
});

test('an unanswered message is repeated after 2, 10 and 30 minutes, then hourly, or after retrySeconds', () => {
  const { waitAfterUnanswered } = createBackoff({});
  for (const [index, wait] of [2, 10, 30, 60, 60].entries()) {
    const minutes = waitAfterUnanswered(index + 1) / 60_000;
    assert.ok(minutes >= wait && minutes <= wait * 1.1, `${minutes}`);
  }
  assert.equal(createBackoff({ retrySeconds: [0] }).waitAfterUnanswered(3), 0);
  const now = new Date();
  const isUnanswered = (status: number) => {
    const outcome = toDeliveryOutcome(status, undefined, now);
    return outcome.kind === 'failed' && outcome.isUnanswered === true;
  };
  assert.deepEqual([500, 502, 503, 504, 524].filter(isUnanswered), [504, 524]);
});

test('destination types whose receivers do work before they respond get more time', () => {
  const times = destinationTypes.flatMap(({ name, timeoutSeconds }) =>
    timeoutSeconds ? [[name, timeoutSeconds]] : [],
  );
  assert.deepEqual(Object.fromEntries(times), { apprise: 60, template: 60, email: 120 });
});
