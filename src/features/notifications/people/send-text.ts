import type { DestinationDefinition } from '../destinations/definition.ts';
import type { TextEnd } from '../plan/incident-messages.ts';

interface TextDestination {
  definition: Pick<DestinationDefinition, 'way'>;
  sendText(text: string, isNeeded: () => boolean): Promise<TextEnd>;
}

/**
 * Sends a message to the first contact methods of a person. Each contact method retries while `isNeeded` returns true.
 * Resolves to true once a contact method has accepted the message or all contact methods have refused it. Resolves to
 * false if the message must be sent again.
 */
export const sendToPerson = async (
  destinations: readonly TextDestination[],
  person: string,
  text: string,
  isNeeded: () => boolean,
): Promise<boolean> => {
  const own = destinations.flatMap((one) =>
    one.definition.way?.person === person ? [{ one, way: one.definition.way }] : [],
  );
  const shortest = Math.min(...own.map(({ way }) => way.delayMs));
  const ends = own.filter(({ way }) => way.delayMs === shortest).map(({ one }) => one.sendText(text, isNeeded));
  const accepted = ends.map(async (end) => {
    if ((await end) !== 'delivered') throw new Error('the contact method did not accept the message');
  });
  return Promise.any(accepted).then(
    () => true,
    async () => ends.length > 0 && (await Promise.all(ends)).every((end) => end === 'refused'),
  );
};
