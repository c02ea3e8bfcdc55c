import { useSignal } from '@preact/signals';
import { ApiError, client, userClient } from '../api.ts';
import { toMinute } from '../format.ts';
import { toIfMatch } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { useSubmission } from '../live/submission.ts';
import { onCallTexts as words } from '../strings/oncall.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { bind, exact, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { notify } from '../ui/toast.tsx';

const person = 'me';

/** Address of the user's own calendar. Absences are read from that calendar. */
export const AbsenceDialog = ({ onClose }: { onClose: () => void }) => {
  const url = useSignal('');
  const { value } = useResource(async (signal) => {
    try {
      return { calendar: await client.getAbsenceCalendar({ person }, { signal }) };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return { calendar: undefined };
      throw error;
    }
  });
  const calendar = value?.calendar;
  const submission = useSubmission(async () => {
    await userClient.putAbsenceCalendar({ person, url: url.value.trim() }, calendar && toIfMatch(calendar));
    notify(words.absencesSaved);
    onClose();
  });
  const removal = useRun(async () => {
    await userClient.deleteAbsenceCalendar({ person }, calendar && toIfMatch(calendar));
    notify(words.absencesRemoved);
    onClose();
  });
  return (
    <FormDialog title={words.absencesTitle} action={words.save} onClose={onClose} {...submission}>
      <p class="hint">{words.absencesHint}</p>
      {calendar && (
        <div class="note">
          <p>
            <bdi>{calendar.url}</bdi>{' '}
            {calendar.readAt === null
              ? words.absencesUnread
              : words.absencesState(calendar.absences, toMinute(Date.parse(calendar.readAt)))}
          </p>
          {calendar.problem !== null && <p class="error">{calendar.problem}</p>}
          <IconButton icon="trash" label={words.remove} isDisabled={removal.isRunning} onClick={removal.run} />
        </div>
      )}
      <Field {...exact} {...bind(url)} label={words.absencesAddress} placeholder="https://" required />
    </FormDialog>
  );
};
