import type { Incident } from 'signalbox/client';
import { toTime } from '../format.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { SeverityChip } from '../ui/severity.tsx';

const words = text.incidents;

/** How bad it is; quiet once it is over. */
export const LevelChip = ({ incident: { level, state } }: { incident: Incident }) => (
  <SeverityChip severity={level} isQuiet={state === 'resolved'} />
);

/** Whether somebody is on it. */
export const StateChip = ({ incident }: { incident: Incident }) => {
  const { state, acknowledgedUntil } = incident;
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
  return (
    <Chip tone="info" icon={acknowledgedUntil ? 'clock' : 'user'}>
      {acknowledgedUntil ? words.snoozed(toTime(Date.parse(acknowledgedUntil))) : words.states.acknowledged}
    </Chip>
  );
};
