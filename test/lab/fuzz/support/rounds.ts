import fc from 'fast-check';
import { createScope } from '../../../support/scope.ts';
import type { Case } from './corpus.ts';
import { hints } from './hints.ts';
import { createRequests } from './requests.ts';
import { startService, variants } from './service.ts';

/** Number of requests per server. A new server then replaces it, so that lists stay short. */
export const requestsPerRound = 6000;

export interface Round {
  /** Number of responses by status. 0 stands for no response. */
  statuses: Map<number, number>;
  /** Operations that never succeeded, such as `GET /api/tasks`. */
  neverDone: string[];
  found?: Case;
}

/**
 * Sends `count` requests, determined by seed and index, to a new server. Stops at an undocumented response, with the
 * smallest request that causes it.
 */
export const runRound = async (seed: number, index: number, count: number): Promise<Round> => {
  const variant = index % variants.length;
  const scope = createScope();
  const statuses = new Map<number, number>();
  const done = new Set<unknown>();
  try {
    const { operations, ask } = await startService(scope, variants[variant]);
    const property = fc.asyncProperty(createRequests(operations, hints), async (request) => {
      const { status = 0, operation } = (await ask(request)) ?? {};
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status < 300) done.add(operation);
    });
    const outcome = await fc.check(property, { seed: seed + index, numRuns: count });
    const neverDone = operations
      .filter((operation) => !done.has(operation))
      .map(({ method, path }) => `${method} ${path}`);
    if (!outcome.failed) return { statuses, neverDone };
    const [request] = outcome.counterexample ?? [];
    if (!request) throw outcome.errorInstance;
    const { message } = outcome.errorInstance as Error;
    return { statuses, neverDone, found: { why: message, variant, requests: [request] } };
  } finally {
    await scope.end();
  }
};
