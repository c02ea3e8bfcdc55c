import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Fold } from '../../src/features/incidents/fold.ts';
import { toFoldedAlert } from '../../src/features/incidents/folded-alert.ts';
import type { StoredIncident } from '../../src/features/incidents/incident.ts';
import { Incidents } from '../../src/features/incidents/incidents.ts';
import { findNextStep } from '../../src/features/notifications/escalation/next-step.ts';
import { type EscalationPolicy, findChainProblem } from '../../src/features/notifications/escalation/policy.ts';
import { createId } from '../../src/storage/journal/line.ts';
import { amount } from '../support/long.ts';

const second = 1000;
const minute = 60 * second;
const start = Date.parse('2026-01-31T09:30:00Z');
const rules = { level: 'INFO', reopenMs: 0, quietMs: 0, retainMs: 0 } as const;

/** False for names that begin with `x`. Such targets reach nobody. */
const isReached = (target: string): boolean => !target.startsWith('x');

const policyNames = ['a', 'b', 'c'];

const policies = fc
  .tuple(
    ...policyNames.map((name) =>
      fc.record({
        name: fc.constant(name),
        steps: fc.array(
          fc.record({
            notify: fc.uniqueArray(fc.constantFrom('anna', 'ben', 'room', 'x1', 'x2'), { minLength: 1, maxLength: 2 }),
            waitMs: fc.constantFrom(second, 30 * second, minute, 10 * minute),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        repeat: fc.integer({ min: 0, max: 2 }),
        next: fc.constantFrom(undefined, ...policyNames),
      }),
    ),
  )
  // As with stored policies, a chain must not lead back to itself.
  .map((all) =>
    all.map((policy) =>
      findChainProblem(policy, (name) => all.find((each) => each.name === name)) === undefined
        ? policy
        : { ...policy, next: undefined },
    ),
  );

const moments = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ pass: fc.constantFrom(0, second, 29 * second, minute, 11 * minute) }) },
    {
      weight: 1,
      arbitrary: fc.record({ pass: fc.constantFrom(-30 * second, -2 * minute, -90 * minute, 90 * minute) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        event: fc.constantFrom('raise', 'lower', 'acknowledge', 'reopen', 'silence', 'skip', 'repeat'),
      }),
    },
    // Kill: a step that an instance has computed is not appended, or another instance appends it again later.
    { weight: 3, arbitrary: fc.record({ kill: fc.constantFrom('before', 'after', 'twice') }) },
  ),
  { minLength: 5, maxLength: 60 },
);

interface Place {
  policy: string;
  round: number;
  step: number;
  waitMs: number;
  targets: string[];
}

/** Lists all steps that a policy leads to, in order. */
const flatten = (name: string | undefined, all: readonly EscalationPolicy[]): Place[] => {
  const policy = all.find((each) => each.name === name);
  if (!policy) return [];
  const places: Place[] = [];
  for (let round = 0; round <= policy.repeat; round += 1) {
    for (const [index, { notify, waitMs }] of policy.steps.entries()) {
      places.push({ policy: policy.name, round, step: index + 1, waitMs, targets: notify.filter(isReached) });
    }
  }
  return [...places, ...flatten(policy.next, all)];
};

/** Takes steps from the flat list. Does not use the places of the code under test. */
const createOracle = (all: readonly EscalationPolicy[]) => {
  const places = flatten('a', all);
  const taken: string[] = [];
  let at = -1;
  let takenAt = 0;
  return {
    taken,
    restart: (): void => {
      at = -1;
    },
    /** Takes the next step if it is due or forced. */
    advance: (now: number, isForced = false): void => {
      // A policy waits while its remaining steps reach nobody.
      const next = places.slice(at + 1).find(({ targets }) => targets.length > 0);
      if (!next) return;
      const isSetBack = at >= 0 && takenAt > now + minute;
      const dueAt = at < 0 ? now : takenAt + (places[at]?.waitMs ?? 0);
      if (!isForced && !isSetBack && now < dueAt) return;
      at = places.indexOf(next);
      takenAt = now;
      taken.push(`${next.policy} ${next.round + 1} ${next.step}: ${next.targets.join()}`);
    },
  };
};

test('kills, silences, rises and clock changes neither skip nor double a step', () => {
  fc.assert(
    fc.property(policies, moments, (all, happening) => {
      const state = new Incidents(rules);
      const oracle = createOracle(all);
      let now = start;
      let seq = 0;
      let isSilenced = false;
      const step = (run: (fold: Fold) => void): void => {
        const fold = new Fold(state, rules, now);
        run(fold);
        state.take(fold);
      };
      const alert = (level: string): void => {
        seq += 1;
        const record = { level, key: 'k', status: 'firing', id: createId(now), seq, time: new Date(now).toISOString() };
        step((fold) => fold.addAlert(toFoldedAlert(record)));
      };
      alert('WARNING');
      const read = (): StoredIncident => state.find(1) as StoredIncident;
      const act = (action: object): void =>
        step((fold) => void fold.act({ ...action, id: read().id, by: 'signalbox', at: now } as never));
      const source = {
        find: (name: string) => all.find((policy) => policy.name === name),
        route: () => 'a',
        resolve: (notify: readonly string[]) => notify.filter(isReached),
      };
      const find = (incident: StoredIncident, isForced = false) => {
        const next = findNextStep(incident, source, now);
        return next && (isForced || next.dueAt <= now) ? { type: 'escalate', ...next } : undefined;
      };
      /** Steps that another instance has computed and appends late. */
      const late: object[] = [];
      const takeDue = (kill?: string): void => {
        if (isSilenced) return;
        const known = read();
        const due = find(known);
        if (due && kill === 'before') return;
        for (const one of late.splice(0)) act(one);
        if (due) act(due);
        if (due && kill === 'twice') act(due);
        if (due && kill === 'after') late.push(due);
        if (known.state === 'open') oracle.advance(now);
      };
      for (const moment of happening) {
        if ('pass' in moment) now += moment.pass;
        if ('event' in moment) {
          const { level, state: before } = read();
          switch (moment.event) {
            case 'raise':
              if (level !== 'CRITICAL') oracle.restart();
              alert(level === 'WARNING' ? 'ERROR' : 'CRITICAL');
              break;
            case 'lower':
              alert('WARNING');
              break;
            case 'repeat':
              alert(level);
              break;
            case 'acknowledge':
              act({ type: 'acknowledge' });
              break;
            case 'reopen':
              if (before !== 'open') oracle.restart();
              act({ type: 'reopen' });
              break;
            case 'silence':
              isSilenced = !isSilenced;
              break;
            case 'skip': {
              const next = before === 'open' && !isSilenced ? find(read(), true) : undefined;
              if (next) {
                act(next);
                oracle.advance(now, true);
              }
            }
          }
        }
        takeDue('kill' in moment ? moment.kill : undefined);
        // After a kill, the next start takes the step.
        takeDue();
        const taken = state
          .listEvents(read().id)
          .flatMap(({ type, policy, round, step: number, targets }) =>
            type === 'addressed' ? [`${policy} ${round} ${number}: ${targets?.join()}`] : [],
          );
        assert.deepEqual(taken, oracle.taken);
      }
    }),
    { numRuns: amount(2000, 100_000) },
  );
});
