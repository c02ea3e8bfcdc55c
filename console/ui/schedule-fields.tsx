import { type ScheduleDraft, weekdays } from '../live/schedule.ts';
import type { DraftProps } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { ChipToggle } from './chip.tsx';
import { exact, Field } from './field.tsx';

const words = text.silences;

type Props = DraftProps<ScheduleDraft> & { draft: { mode: string } };

/** Times that recur: days of the week with a time, or a cron expression. */
export const ScheduleFields = ({ draft: { mode, days }, set, bind }: Props) => (
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
              onToggle={() => set({ days: days.includes(day) ? days.filter((each) => each !== day) : [...days, day] })}
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
  </>
);
