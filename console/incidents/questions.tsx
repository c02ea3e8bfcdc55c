import { useSignal } from '@preact/signals';
import type { Incident } from 'signalbox/client';
import { userClient } from '../api.ts';
import { now } from '../clock.ts';
import { toMinute } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { isMounted } from '../routes.ts';
import { session } from '../session.ts';
import { text } from '../strings/index.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, bind, Choice, Field } from '../ui/field.tsx';
import { ceilTime, fromTyped } from '../zone.ts';
import { acknowledge, addResponder, comment, question, toIncidentName } from './actions.ts';
import { AnnounceDialog } from './announce.tsx';

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
  if (kind === 'announce') return first ? <AnnounceDialog incident={first} onClose={close} /> : null;
  if (kind === 'responder') return first ? <ResponderDialog incident={first} /> : null;
  return first ? <CommentDialog incident={first} /> : null;
};

/** Returns 8:00 on the following day in the displayed zone. */
const toTomorrow = (): number => ceilTime(now() + 1, 24) + 8 * hourMs;

/** Returns the end of the user's current shift, or the latest end of several. Undefined if the user is not on call. */
const useShiftEnd = (): number | undefined => {
  const own = session.value?.name;
  const { value } = useResource(async (signal) =>
    own !== undefined && isMounted('getOnCall') ? (await userClient.getOnCall({}, { signal })).data : [],
  );
  const ends = (value ?? [])
    .filter(({ kind, member, endsAt }) => kind === 'person' && member === own && endsAt !== null)
    .map(({ endsAt }) => Date.parse(endsAt ?? ''));
  return ends.length > 0 ? Math.max(...ends) : undefined;
};

const SnoozeDialog = ({ incidents }: { incidents: readonly Incident[] }) => {
  const typed = useSignal('');
  const error = useSignal<string | undefined>(undefined);
  const shiftEnd = useShiftEnd();
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
        {shiftEnd !== undefined && (
          <button type="button" onClick={() => snooze(shiftEnd)}>
            {words.snoozeShift(toMinute(shiftEnd))}
          </button>
        )}
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

const ResponderDialog = ({ incident }: { incident: Incident }) => {
  const chosen = useSignal('');
  const said = useSignal('');
  const { value } = useResource((signal) => userClient.listPeople(undefined, { signal }));
  const others = (value?.data ?? [])
    .map(({ name }) => name)
    .filter((name) => name !== session.value?.name && !incident.responders.includes(name));
  const person = chosen.value || others[0];
  const send = async () => {
    if (person !== undefined && (await addResponder(incident, person, said.value))) close();
  };
  return (
    <FormDialog
      title={words.responders.question(toIncidentName([incident]))}
      action={words.responders.action}
      onSubmit={() => void send()}
      onClose={close}
      isDisabled={person === undefined}
    >
      {value && person === undefined && <p class="hint">{words.responders.nobody}</p>}
      {person !== undefined && (
        <Choice
          label={words.responders.person}
          value={person}
          options={others.map((name) => [name, name] as [string, string])}
          onValue={(name) => {
            chosen.value = name;
          }}
        />
      )}
      <Area label={words.responders.comment} {...bind(said)} />
    </FormDialog>
  );
};
