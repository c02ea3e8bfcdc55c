import { answer, type Behaviour, startReceiver } from '../../support/receiver.ts';
import type { Scope } from '../../support/scope.ts';

/** Receiver that rejects only the first delivery. */
export const refuseOnce: Behaviour = (response, _, index) => void response.writeHead(index === 0 ? 400 : 200).end();

/** Starts a receiver that, by default, rejects every alert. Returns settings with the destination `pager`. */
export const startPager = async (scope: Scope, behaviour: Behaviour = answer(400)) => {
  const { url } = await startReceiver(scope, behaviour);
  return { destinations: [{ name: 'pager', type: 'webhook', url }] };
};
