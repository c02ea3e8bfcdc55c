import { useSignal } from '@preact/signals';
import type { Incident } from 'signalbox/client';
import { now } from '../clock.ts';
import { text } from '../strings/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Area, Field } from '../ui/field.tsx';
import { ceilTime, fromTyped } from '../zone.ts';
import { acknowledge, comment, question, toName } from './actions.ts';

const words = text.incidents;
const hourMs = 3_600_000;

const close = (): void => {
  question.value = undefined;
};

/** Asks how long to snooze, or for a comment, over whatever is shown. */
export const QuestionDialog = () => {
  if (!question.value) return null;
  const { kind, incidents } = question.value;
  const [first] = incidents;
  if (kind === 'snooze') return <SnoozeDialog incidents={incidents} />;
  return first ? <CommentDialog incident={first} /> : null;
};

/** Eight o'clock of the next day in the zone that is shown. */
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
    <Dialog title={words.snoozeTitle(toName(incidents))} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          snooze(fromTyped(typed.value));
        }}
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
        <div class="actions">
          <button type="submit" class="primary">
            {words.snoozeAction}
          </button>
          <button type="button" onClick={close}>
            {text.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
};

const CommentDialog = ({ incident }: { incident: Incident }) => {
  const said = useSignal('');
  const send = async () => {
    if (said.value.trim() && (await comment(incident, said.value))) close();
  };
  return (
    <Dialog title={words.commentTitle(toName([incident]))} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <Area
          label={words.commentLabel}
          hint={words.commentHint}
          value={said.value}
          onValue={(value) => {
            said.value = value;
          }}
        />
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={said.value.trim() === ''}>
            {words.commentAction}
          </button>
          <button type="button" onClick={close}>
            {text.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
};
