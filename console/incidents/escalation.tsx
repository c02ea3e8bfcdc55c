import type { IncidentDetails } from 'signalbox/client';
import { toTargetName } from '../../src/kit/people.ts';
import { untilTime } from '../clock.ts';
import { toDuration } from '../format.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { escalate } from './actions.ts';

const words = text.incidents.escalation;

/** Position of an incident in its escalation policy, with the next step. */
export const Escalation = ({ incident }: { incident: IncidentDetails }) => {
  const { escalation, state } = incident;
  if (!escalation || state === 'resolved') return null;
  const { policy, step, steps, round, rounds, next } = escalation;
  const names = next?.targets.map(toTargetName).join(', ') || words.nobody;
  const wait = next?.dueAt ? Math.max(0, untilTime(Date.parse(next.dueAt)) / 1000) : undefined;
  return (
    <>
      <h3>{words.title}</h3>
      <p>
        <bdi>{words.place(policy, `${step}`, `${steps}`)}</bdi>
        {rounds > 1 && ` · ${words.round(`${round}`, `${rounds}`)}`}
      </p>
      {state === 'acknowledged' && <p class="hint">{words.ended}</p>}
      {state === 'open' && !next && <p class="hint">{words.last}</p>}
      {next && (
        <p>
          <bdi>{wait === undefined ? words.blocked(names) : words.next(toDuration(wait), names)}</bdi>
        </p>
      )}
      {next?.dueAt && isAllowed('escalateIncident') && (
        <div class="actions">
          <IconButton icon="up" label={words.now} onClick={() => void escalate(incident, names)} />
        </div>
      )}
    </>
  );
};
