import type { Incident, Silence } from 'signalbox/client';
import { toPerson } from '../../src/kit/people.ts';
import { useResource } from '../live/resource.ts';
import { describeMatch, describeWhen, loadCurrent, silenceMatches, toPresentState } from '../live/silences.ts';
import { toHash } from '../router.ts';
import { isReadable } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';

const words = text.silences;
const calm = 200;

/** Current and upcoming silences that match an incident. */
export const SilencesOf = ({ incident }: { incident: Incident }) => {
  const load = async (signal: AbortSignal) =>
    isReadable('listSilences') ? (await loadCurrent(signal)).data : ([] as readonly Silence[]);
  const { value = [] } = useResource(load, { key: incident.silencedBy.join(), topic: 'silences', calm });
  if (incident.state === 'resolved') return null;
  const found = value.filter((silence) =>
    toPresentState(silence) === 'active'
      ? incident.silencedBy.includes(silence.id)
      : silence.match !== null && silenceMatches(silence.match, incident),
  );
  if (found.length === 0) return null;
  return (
    <ul class="note silences-of">
      {found.map((silence) => (
        <li key={silence.id}>
          <Icon name="silences" />
          <span>
            {toPresentState(silence) === 'active' ? words.silencedBy : words.willBeSilencedBy}{' '}
            <a href={toHash(`/silences/${silence.id}`)}>
              <bdi>{describeMatch(silence)}</bdi>
            </a>{' '}
            <span class="hint">
              {describeWhen(silence)} · <bdi>{toPerson(silence.createdBy)}</bdi>
              {silence.comment && (
                <>
                  {': '}
                  <bdi>{silence.comment}</bdi>
                </>
              )}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
};
