import fc from 'fast-check';
import type { Scope } from '../../support/folder.ts';
import type { Case } from './corpus.ts';
import { hints } from './hints.ts';
import { createRequests } from './requests.ts';
import { startService, variants } from './service.ts';

/** Requests to one server; then a new one takes its place, so that its lists stay short. */
export const requestsPerRound = 2000;

export interface Round {
  /** How many requests were answered with each status; 0 stands for no answer. */
  statuses: Map<number, number>;
  /** Operations that were never carried out, as `GET /api/tasks`. */
  neverDone: string[];
  found?: Case;
}

/**
 * Sends `count` requests, which seed and index determine, to a server of its own. Stops at an answer that is not as
 * documented, with the smallest request that was seen to bring it about.
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

/** Tidies up in reverse order. */
const createScope = (): Scope & { end(): Promise<void> } => {
  const ends: (() => unknown)[] = [];
  return {
    after: (end) => {
      ends.unshift(end);
    },
    end: async () => {
      for (const end of ends) await end();
    },
  };
};
