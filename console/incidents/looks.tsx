import type { Incident } from 'signalbox/client';
import { toPerson } from '../../src/kit/people.ts';
import { toTime } from '../format.ts';
import { place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { Icon } from '../ui/icon.tsx';
import { SeverityChip } from '../ui/severity.tsx';

const words = text.incidents;

/** Level of an incident. Dimmed once the incident is resolved. */
export const LevelChip = ({ incident: { level, state } }: { incident: Incident }) => (
  <SeverityChip severity={level} isQuiet={state === 'resolved'} />
);

export const IncidentChip = ({ incident }: { incident: Incident }) => {
  const { state, acknowledgedBy, acknowledgedUntil } = incident;
  if (state === 'open') {
    return (
      <Chip tone="error" icon="firing">
        {words.states.open}
      </Chip>
    );
  }
  if (state === 'resolved') {
    return (
      <Chip tone="good" icon="check">
        {words.states.resolved}
      </Chip>
    );
  }
  const who = acknowledgedBy === null ? words.states.acknowledged : words.acknowledgedBy(toPerson(acknowledgedBy));
  return (
    <Chip tone="info" icon={acknowledgedUntil ? 'clock' : 'user'}>
      <bdi>{acknowledgedUntil ? words.snoozed(toTime(Date.parse(acknowledgedUntil))) : who}</bdi>
    </Chip>
  );
};

/** Link to the incident that holds this incident's notifications. */
export const CauseLink = ({ incident: { cause } }: { incident: Incident }) =>
  cause && (
    <span class="hint">
      {words.becauseOf}{' '}
      <a href={toHash(`/incidents/${cause.number}`, place.value.params)}>
        <bdi>{words.cause(cause.number, cause.name)}</bdi>
      </a>
    </span>
  );

export const SilencedMark = ({ incident: { silencedBy } }: { incident: Incident }) => {
  if (silencedBy.length === 0) return null;
  return (
    <span class="silenced" title={text.silences.silenced}>
      <Icon name="silences" />
      <span class="unseen">{text.silences.silenced}</span>
    </span>
  );
};
