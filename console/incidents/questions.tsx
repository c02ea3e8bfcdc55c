import { useSignal } from '@preact/signals';
import type { Incident } from 'signalbox/client';
import { now } from '../clock.ts';
import { text } from '../strings/index.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, bind, Field } from '../ui/field.tsx';
import { ceilTime, fromTyped } from '../zone.ts';
import { acknowledge, comment, question, toIncidentName } from './actions.ts';

const words = text.incidents;
const hourMs = 3_600_000;

const close = (): void => {
  question.value = undefined;
};

/** Dialog that asks for the snooze time or a comment. */
export const QuestionDialog = () => {
  if (!question.value) return null;
  const { kind, incidents } = question.value;
  const [first] = incidents;
  if (kind === 'snooze') return <SnoozeDialog incidents={incidents} />;
  return first ? <CommentDialog incident={first} /> : null;
};

/** 8:00 on the next day in the displayed zone. */
const toTomorrow = (): number => ceilTime(now() + 1, 24) + 8 * hourMs;

const SnoozeDialog = ({ incidents }: { incidents: readonly Incident[] }) => {
  const typed = useSignal('');
  const error = useSignal<string | undefined>(undefined);
  const snooze = (until: number) => {
    if (!(until > now())) {
      error.value = words.snoozePast;
      return;
    }
    close();
    void acknowledge(incidents, { until: new Date(until).toISOString() });
  };
  return (
    <FormDialog
      title={words.snoozeTitle(toIncidentName(incidents))}
      action={words.snoozeAction}
      onSubmit={() => snooze(fromTyped(typed.value))}
      onClose={close}
    >
      <p class="hint">{words.snoozeHint}</p>
      <div class="actions">
        {[1, 4].map((hours) => (
          <button key={hours} type="button" onClick={() => snooze(now() + hours * hourMs)}>
            {words.snoozeHours(hours)}
          </button>
        ))}
        <button type="button" onClick={() => snooze(toTomorrow())}>
          {words.snoozeTomorrow}
        </button>
      </div>
      <Field
        label={words.snoozeUntil}
        type="datetime-local"
        value={typed.value}
        error={error.value}
        onValue={(value) => {
          typed.value = value;
          error.value = undefined;
        }}
      />
    </FormDialog>
  );
};

const CommentDialog = ({ incident }: { incident: Incident }) => {
  const said = useSignal('');
  const send = async () => {
    if (said.value.trim() && (await comment(incident, said.value))) close();
  };
  return (
    <FormDialog
      title={words.commentTitle(toIncidentName([incident]))}
      action={words.commentAction}
      onSubmit={() => void send()}
      onClose={close}
      isDisabled={said.value.trim() === ''}
    >
      <Area label={words.commentLabel} hint={words.commentHint} {...bind(said)} />
    </FormDialog>
  );
};
