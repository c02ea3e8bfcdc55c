import type { OnCall } from 'signalbox/client';
import { userClient } from '../api.ts';
import { serverNow } from '../clock.ts';
import { toMinute } from '../format.ts';
import { useDraft } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { fromTyped, toTyped } from '../zone.ts';
import { FormDialog } from './dialog.tsx';
import { Choice, Field } from './field.tsx';
import { notify } from './toast.tsx';

const words = text.notifications;

interface Props {
  onCall: OnCall;
  members: readonly string[];
  /** Range to override, in milliseconds. Infinite if unknown. Default: from now to the end of the shift. */
  range?: { start: number; end: number };
  onSaved: () => void;
  onClose: () => void;
}

/** Dialog to override who is on call until a given time. */
export const OverrideDialog = ({
  onCall: { rotation, member: present, next, endsAt },
  members,
  range,
  onSaved,
  onClose,
}: Props) => {
  const first = next?.member ?? members.find((each) => each !== present) ?? present ?? '';
  const isFuture = range !== undefined && range.start > serverNow();
  const end = range?.end ?? (endsAt ? Date.parse(endsAt) : Number.POSITIVE_INFINITY);
  const blank = {
    member: first,
    start: isFuture ? toTyped(range.start) : '',
    end: Number.isFinite(end) ? toTyped(end) : '',
    comment: '',
  };
  const { form, submission } = useDraft(blank, async ({ member, start, end, comment }) => {
    const [from, until] = [start === '' ? undefined : fromTyped(start), fromTyped(end)];
    if (from !== undefined && Number.isNaN(from)) throw new Error(words.noStart);
    if (!(until > serverNow())) throw new Error(words.noUntil);
    const startsAt = from === undefined ? {} : { startsAt: new Date(from).toISOString() };
    const body = { rotation, member, ...startsAt, endsAt: new Date(until).toISOString(), comment: comment.trim() };
    const created = await userClient.createDutyOverride(body);
    const isLater = Date.parse(created.startsAt) > serverNow();
    notify(
      isLater
        ? words.overridePlanned(created.member, toMinute(Date.parse(created.startsAt)))
        : words.overridden(created.member, toMinute(Date.parse(created.endsAt))),
    );
    onSaved();
    onClose();
  });
  return (
    <FormDialog title={words.overrideTitle(rotation)} action={words.overrideAction} onClose={onClose} {...submission}>
      <p class="hint">{words.overrideHint}</p>
      <Choice label={words.member} options={members.map((each) => [each, each])} {...form.bind('member')} />
      <div class="beside">
        <Field label={words.until} type="datetime-local" {...form.bind('end')} />
        <Field label={words.start} type="datetime-local" hint={words.startHint} {...form.bind('start')} />
      </div>
      <Field label={words.reason} autocomplete="off" {...form.bind('comment')} />
    </FormDialog>
  );
};
