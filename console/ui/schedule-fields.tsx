import { readSchedule, type ScheduleDraft, weekdays } from '../live/schedule.ts';
import type { DraftProps } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { ChipToggle } from './chip.tsx';
import { exact, Field } from './field.tsx';
import { NextTimes } from './next-times.tsx';

const words = text.silences;

type Props = DraftProps<ScheduleDraft> & { draft: { mode: string } };

/** Fields for a recurring schedule: weekdays with a time, or a cron expression. */
export const ScheduleFields = ({ draft, set, bind }: Props) => {
  const { mode, days } = draft;
  return (
    <>
      {mode === 'weekly' && (
        <div class="beside">
          <fieldset class="chips">
            <legend class="unseen">{words.onDays}</legend>
            {weekdays.map((day) => (
              <ChipToggle
                key={day}
                tone="info"
                pressed={days.includes(day)}
                onToggle={() =>
                  set({ days: days.includes(day) ? days.filter((each) => each !== day) : [...days, day] })
                }
              >
                {words.shortDays[day]}
              </ChipToggle>
            ))}
          </fieldset>
          <Field label={words.atTime} type="time" {...bind('time')} />
        </div>
      )}
      {mode === 'cron' && (
        <Field {...exact} label={words.expression} hint={words.expressionHint} {...bind('expression')} />
      )}
      {isRecurring(mode) && <NextTimes {...toAsked(draft)} />}
    </>
  );
};

const isRecurring = (mode: string): boolean => mode === 'weekly' || mode === 'cron';

/** Complete cron expression: five fields, or a name such as `@daily`. */
const complete = /^(@\w+|(\S+\s+){4}\S+)$/;

/** Returns the schedule in a draft. Undefined while it is incomplete. */
const toAsked = (draft: Props['draft']): { schedule: string; timeZone?: string } => {
  try {
    const asked = readSchedule(draft);
    return complete.test(asked.schedule) ? asked : { schedule: '' };
  } catch {
    return { schedule: '' };
  }
};
