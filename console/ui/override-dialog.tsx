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

/** Period in milliseconds. Infinite if unknown. */
interface Period {
  start: number;
  end: number;
}

interface Shift extends Period {
  /** Null for a gap. */
  person: string | null;
}

interface Props {
  onCall: OnCall;
  members: readonly string[];
  /** Range to override. Default: from now to the end of the shift. */
  range?: Period;
  /** Shifts that the replaced member can take in return. */
  shifts?: readonly Shift[];
  onSaved: () => void;
  onClose: () => void;
}

/** Dialog to override who is on call until a given time, or to swap shifts. */
export const OverrideDialog = ({
  onCall: { rotation, member: present, next, endsAt },
  members,
  range,
  shifts = [],
  onSaved,
  onClose,
}: Props) => {
  const inRange = new Set(
    range ? shifts.filter((each) => overlaps(each, range)).map(({ person }) => person) : [present],
  );
  /** Person on call in the whole range. Undefined if there are several. */
  const replaced = inRange.size === 1 ? [...inRange][0] : undefined;
  const others = [next?.member, ...members].filter((each) => each !== undefined && each !== replaced);
  const first = others[0] ?? present ?? '';
  const listReturns = (member: string): Shift[] => {
    if (typeof replaced !== 'string' || replaced === member) return [];
    const isFree = (each: Shift): boolean => !range || !overlaps(each, range);
    return shifts.filter(
      (each) =>
        each.person === member && each.start > serverNow() && each.end < Number.POSITIVE_INFINITY && isFree(each),
    );
  };
  const isFuture = range !== undefined && range.start > serverNow();
  const end = range?.end ?? (endsAt ? Date.parse(endsAt) : Number.POSITIVE_INFINITY);
  const blank = {
    member: first,
    start: isFuture ? toTyped(range.start) : '',
    end: Number.isFinite(end) ? toTyped(end) : '',
    inReturn: '',
    comment: '',
  };
  const { form, submission } = useDraft(blank, async ({ member, start, end, inReturn, comment }) => {
    const [from, until] = [start === '' ? undefined : fromTyped(start), fromTyped(end)];
    if (from !== undefined && Number.isNaN(from)) throw new Error(words.noStart);
    if (!(until > serverNow())) throw new Error(words.noUntil);
    const startsAt = from === undefined ? {} : { startsAt: new Date(from).toISOString() };
    const back = listReturns(member).find((each) => toKey(each) === inReturn);
    if (inReturn !== '' && !back) throw new Error(words.noReturn);
    const created = await userClient.createDutyOverride({
      rotation,
      member,
      ...startsAt,
      endsAt: new Date(until).toISOString(),
      ...(back && { inReturn: toPeriod(back) }),
      comment: comment.trim(),
    });
    const isLater = Date.parse(created.startsAt) > serverNow();
    notify(
      back
        ? words.swapped
        : isLater
          ? words.overridePlanned(created.member, toMinute(Date.parse(created.startsAt)))
          : words.overridden(created.member, toMinute(Date.parse(created.endsAt))),
    );
    onSaved();
    onClose();
  });
  const returns = listReturns(form.draft.member);
  return (
    <FormDialog
      title={words.overrideTitle(rotation)}
      action={form.draft.inReturn === '' ? words.overrideAction : words.swapAction}
      onClose={onClose}
      {...submission}
    >
      <p class="hint">{words.overrideHint}</p>
      <Choice
        label={words.member}
        options={members.map((each) => [each, each])}
        value={form.draft.member}
        onValue={(member) => form.set({ member, inReturn: '' })}
      />
      <div class="beside">
        <Field label={words.until} type="datetime-local" {...form.bind('end')} />
        <Field label={words.start} type="datetime-local" hint={words.startHint} {...form.bind('start')} />
      </div>
      {returns.length > 0 && (
        <Choice
          label={words.inReturn}
          hint={words.inReturnHint}
          options={[['', words.nothing], ...returns.map((each): [string, string] => [toKey(each), describe(each)])]}
          {...form.bind('inReturn')}
        />
      )}
      <Field label={words.reason} autocomplete="off" {...form.bind('comment')} />
    </FormDialog>
  );
};

const overlaps = (one: Period, other: Period): boolean => one.start < other.end && other.start < one.end;

const toKey = ({ start }: Period): string => `${start}`;

const toPeriod = ({ start, end }: Period) => ({
  startsAt: new Date(start).toISOString(),
  endsAt: new Date(end).toISOString(),
});

const describe = ({ start, end }: Period): string => `${toMinute(start)} – ${toMinute(end)}`;
