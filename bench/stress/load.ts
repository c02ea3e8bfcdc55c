import { startCompanion } from '../support/companion.ts';
import type { Cores } from '../support/cores.ts';
import type { Scope } from '../support/scope.ts';
import type { OpenLoopFigures, OpenLoopOrder } from './open-loop.ts';

/** Starts a load. Once its connections are open, it resolves to a promise of the figures. */
export const beginLoad = async (
  scope: Scope,
  cores: Cores | undefined,
  order: OpenLoopOrder,
): Promise<() => Promise<OpenLoopFigures>> => {
  const load = startCompanion<OpenLoopFigures | 'open'>(scope, cores, 'open-loop', order);
  await load.read();
  return async () => (await load.read()) as OpenLoopFigures;
};
