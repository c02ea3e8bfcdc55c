import type { Silence } from 'signalbox/client';
import { client } from '../api.ts';

/** As many are read at most. */
export const mostSilences = 1000;

/** Some silences of how many there are. */
export interface FoundSilences {
  total: number;
  data: readonly Silence[];
}

/** Those that hold, and then those that will. */
export const loadCurrent = async (signal: AbortSignal): Promise<FoundSilences> => {
  const [active, pending] = await Promise.all([
    client.listSilences({ state: 'active', limit: mostSilences }, { signal }),
    client.listSilences({ state: 'pending', limit: mostSilences }, { signal }),
  ]);
  return { total: active.total + pending.total, data: [...active.data, ...pending.data] };
};
