import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount } from '../../support/long.ts';
import { readCorpus } from './support/corpus.ts';
import { requestsPerRound, runRound } from './support/rounds.ts';
import { startService, variants } from './support/service.ts';

/** Fixed seed, so that each run sends the same requests unless another seed is set. */
const seed = Number(process.env['SIGNALBOX_TEST_SEED'] ?? 1);
const rounds = amount(1, 50);

test('valid, nearly valid and hostile requests each get a documented response', async (t) => {
  t.diagnostic(`SIGNALBOX_TEST_SEED=${seed}`);
  const statuses = new Map<number, number>();
  for (let index = 0; index < rounds; index += 1) {
    const round = await runRound(seed, index, requestsPerRound);
    assert.equal(round.found, undefined, JSON.stringify(round.found, undefined, 2));
    for (const [status, count] of round.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    // These routes succeed only by chance: a login, a body of any format, a silence, a watch, a user, a key, a host and
    // the times of a schedule. Random ids name no record, and no incident about this machine. No token belongs to an
    // account, no setting is broken, and bodies are JSON.
    assert.deepEqual(
      round.neverDone.filter(
        (name) =>
          !/\/(?:login|auto|plain-text|\{intakeFormat\}|retry|alerts\/\{id\}|silences?(?:\/\{id\})?|overrides(?:\/\{id\})?|watches(?:\/\{watch\})?|test|acknowledge\/\{token\}|ping\/\{address\}(?:\/\{signal\})?|incidents\/\{id\}\/snapshot|setup|schedule|sessions\/renew|account\/password|settings\/broken\/\{kind\}\/\{name\}|users(?:\/\{user\})?|keys(?:\/\{key\})?|destinations\/\{destination\}|heartbeats\/\{name\}(?:\/[\w.]+)?|hosts\/enrol|hosts\/\{name\}(?:\/\w+)?|escalation-routing|badge\.svg|availability|incidents\/\{id\}\/\w+|announcements\/.*|(?:rotations|escalation-policies|people|proposals|oncall|status-pages?|status)\/(?:heartbeat\/)?\{.*)$/.test(
            name,
          ),
      ),
      [],
    );
  }
  const sum = [...statuses.values()].reduce((one, other) => one + other);
  assert.equal(sum, rounds * requestsPerRound);
  t.diagnostic(`responses by status: ${JSON.stringify(Object.fromEntries(statuses))}`);
});

for (const { name, kept } of readCorpus()) {
  test(`the stored case ${name} gets documented responses`, async (t) => {
    const { ask } = await startService(t, variants[kept.variant]);
    for (const request of kept.requests) await ask(request);
  });
}
