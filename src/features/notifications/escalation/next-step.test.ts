import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SharedIncident } from '../../../kit/incident.ts';
import { findNextStep } from './next-step.ts';

const escalation = { policy: 'gone', round: 0, step: 1, at: 1000, opening: 1 };
const incident = { state: 'open', isOld: false, openings: 1, escalation } as SharedIncident;

test('an incident whose policy and routing were deleted follows the rules of destinations', () => {
  const source = { find: () => undefined, route: () => undefined, resolve: () => [] };
  const step = findNextStep(incident, source, 2000);
  assert.deepEqual(step?.place, { policy: null, round: 0, step: 0 });
  const moved = { ...incident, escalation: { ...escalation, ...step?.place } };
  assert.equal(findNextStep(moved, source, 2000), undefined);
});
