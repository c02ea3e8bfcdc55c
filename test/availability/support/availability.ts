import assert from 'node:assert/strict';
import type { CheckAvailability } from '../../../src/features/availability/schema.ts';
import type { TestApp } from '../../support/app.ts';
import { waitUntilPasses } from '../../support/wait.ts';

type Asked = Pick<TestApp, 'request'>;

export type { CheckAvailability };

/** Reads the availability of a check, such as `watches/site`. */
export const readAvailability = async (
  { request }: Asked,
  token: string,
  check: string,
  query = '',
): Promise<CheckAvailability> => {
  const { status, json } = await request<CheckAvailability>('GET', `/api/${check}/availability${query}`, { token });
  assert.equal(status, 200, JSON.stringify(json));
  const { up, down, maintenance, unknown, from, until } = json;
  const seconds = Math.floor(Date.parse(until) / 1000) - Math.floor(Date.parse(from) / 1000);
  assert.equal(up + down + maintenance + unknown, seconds, 'each second of the range has one state');
  return json;
};

/** Resolves to the availability of a check once it has a state. */
export const waitForCheck = async (
  app: Asked,
  token: string,
  check: string,
  state: CheckAvailability['state'],
  limitMs?: number,
): Promise<CheckAvailability> => {
  let found: CheckAvailability | undefined;
  await waitUntilPasses(async () => {
    found = await readAvailability(app, token, check);
    assert.equal(found.state, state);
  }, limitMs);
  return found as CheckAvailability;
};
