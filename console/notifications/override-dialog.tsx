import { useSignal } from '@preact/signals';
import type { OnCall } from 'signalbox/client';
import { userClient } from '../api.ts';
import { serverNow } from '../clock.ts';
import { toMinute } from '../format.ts';
import { text } from '../strings/index.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Choice, Field } from '../ui/field.tsx';
import { notify } from '../ui/toast.tsx';
import { fromTyped, toTyped } from '../zone.ts';

const words = text.notifications;

interface Props {
  onCall: OnCall;
  members: readonly string[];
  onSaved: () => void;
  onClose: () => void;
}

/** Asks who is on duty instead of those whose turn it is, and until when. */
export const OverrideDialog = ({
  onCall: { rotation, member: present, next, endsAt },
  members,
  onSaved,
  onClose,
}: Props) => {
  const first = next?.member ?? members.find((each) => each !== present) ?? present;
  const draft = useSignal({ member: first, start: '', end: endsAt ? toTyped(Date.parse(endsAt)) : '', comment: '' });
  const error = useSignal('');
  const isRunning = useSignal(false);
  const set = (changes: Partial<typeof draft.value>) => {
    error.value = '';
    draft.value = { ...draft.value, ...changes };
  };
  const submit = async () => {
    if (isRunning.value) return;
    const { member, start, end, comment } = draft.value;
    const [from, until] = [start === '' ? undefined : fromTyped(start), fromTyped(end)];
    if (from !== undefined && Number.isNaN(from)) {
      error.value = words.noStart;
      return;
    }
    if (!(until > serverNow())) {
      error.value = words.noUntil;
      return;
    }
    isRunning.value = true;
    error.value = '';
    try {
      const startsAt = from === undefined ? {} : { startsAt: new Date(from).toISOString() };
      const body = { rotation, member, ...startsAt, endsAt: new Date(until).toISOString(), comment: comment.trim() };
      const made = await userClient.createDutyOverride(body);
      const isLater = Date.parse(made.startsAt) > serverNow();
      notify(
        isLater
          ? words.overridePlanned(made.member, toMinute(Date.parse(made.startsAt)))
          : words.overridden(made.member, toMinute(Date.parse(made.endsAt))),
      );
      onSaved();
      onClose();
    } catch (reason) {
      error.value = reason instanceof Error ? reason.message : String(reason);
    }
    isRunning.value = false;
  };
  return (
    <FormDialog
      title={words.overrideTitle(rotation)}
      action={words.overrideAction}
      onSubmit={() => void submit()}
      onClose={onClose}
      isDisabled={isRunning.value}
      error={error.value}
    >
      <p class="hint">{words.overrideHint}</p>
      <Choice
        label={words.who}
        value={draft.value.member}
        options={members.map((each) => [each, each])}
        onValue={(member) => set({ member })}
      />
      <div class="beside">
        <Field label={words.until} type="datetime-local" value={draft.value.end} onValue={(end) => set({ end })} />
        <Field
          label={words.start}
          type="datetime-local"
          hint={words.startHint}
          value={draft.value.start}
          onValue={(start) => set({ start })}
        />
      </div>
      <Field label={words.why} value={draft.value.comment} autocomplete="off" onValue={(comment) => set({ comment })} />
    </FormDialog>
  );
};
