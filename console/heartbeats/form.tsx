import { useState } from 'preact/hooks';
import type { Heartbeat } from 'signalbox/client';
import { userClient } from '../api.ts';
import { createNew } from '../live/creation.ts';
import { weekdays } from '../live/schedule.ts';
import { useDraft } from '../live/submission.ts';
import { heartbeats as words } from '../strings/heartbeats.ts';
import { text } from '../strings/index.ts';
import { ChipToggle, Segments } from '../ui/chip.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, Check, Choice, exact, Field } from '../ui/field.tsx';
import { severityOptions } from '../ui/severity.tsx';
import { notify } from '../ui/toast.tsx';
import { type Draft, modes, periodUnits, toDefinition } from './draft.ts';

interface Props {
  draft: Draft;
  /** The heartbeat that is changed; a new one is made without it. */
  before?: Heartbeat;
  onSaved: (name: string) => void;
  onClose: () => void;
}

interface PartProps {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
}

/** The form of a heartbeat, over the list. */
export const HeartbeatForm = ({ draft: first, before: present, onSaved, onClose }: Props) => {
  // As the user has seen it: what others change meanwhile is not overwritten.
  const [before] = useState(present);
  const { draft, set, submission } = useDraft(first, async (filled) => {
    const name = filled.name.trim();
    if (name === '') throw new Error(words.noName);
    const definition = toDefinition(filled);
    const put = (options: object) => userClient.putHeartbeat({ ...definition, name }, options);
    await (before ? put({ ifMatch: `"${before.version}"` }) : createNew(put, words.exists(name)));
    notify(words.saved(name));
    onSaved(name);
  });
  return (
    <FormDialog
      title={before ? words.editTitle(before.name) : words.newTitle}
      action={before ? words.saveAction : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && (
        <Field
          {...exact}
          label={words.name}
          hint={words.nameHint}
          value={draft.name}
          onValue={(name) => set({ name })}
        />
      )}
      <Times draft={draft} set={set} />
      <Limits draft={draft} set={set} />
      <Area
        label={words.description}
        hint={words.descriptionHint}
        value={draft.description}
        lines={2}
        onValue={(description) => set({ description })}
      />
      <Check label={words.open} checked={draft.isOpen} onValue={(isOpen) => set({ isOpen })} />
    </FormDialog>
  );
};

/** When it is expected. */
const Times = ({ draft, set }: PartProps) => (
  <>
    <Segments
      label={words.when}
      value={draft.mode}
      options={modes.map((mode) => [mode, words.modes[mode]] as const)}
      onValue={(mode) => set({ mode })}
    />
    {draft.mode === 'every' && (
      <div class="beside">
        <Field
          {...exact}
          label={words.period}
          inputMode="decimal"
          value={draft.count}
          onValue={(count) => set({ count })}
        />
        <Choice
          label={words.unit}
          value={draft.unit}
          options={periodUnits.map((unit): [string, string] => [unit, words.units[unit]])}
          onValue={(unit) => set({ unit })}
        />
      </div>
    )}
    {draft.mode === 'weekly' && <Days draft={draft} set={set} />}
    {draft.mode === 'cron' && (
      <Field
        {...exact}
        label={words.expression}
        hint={words.expressionHint}
        value={draft.expression}
        onValue={(expression) => set({ expression })}
      />
    )}
    {draft.mode !== 'every' && (
      <Field {...exact} label={words.timeZone} value={draft.timeZone} onValue={(timeZone) => set({ timeZone })} />
    )}
  </>
);

const Days = ({ draft: { days, time }, set }: PartProps) => (
  <div class="beside">
    <fieldset class="chips">
      <legend class="unseen">{text.silences.onDays}</legend>
      {weekdays.map((day) => (
        <ChipToggle
          key={day}
          tone="info"
          pressed={days.includes(day)}
          onToggle={() => set({ days: days.includes(day) ? days.filter((each) => each !== day) : [...days, day] })}
        >
          {text.silences.shortDays[day]}
        </ChipToggle>
      ))}
    </fieldset>
    <Field label={text.silences.atTime} type="time" value={time} onValue={(value) => set({ time: value })} />
  </div>
);

const Limits = ({ draft, set }: PartProps) => (
  <>
    <div class="beside">
      <Field
        {...exact}
        label={words.graceField}
        hint={words.graceHint}
        inputMode="decimal"
        value={draft.grace}
        onValue={(grace) => set({ grace })}
      />
      <Field
        {...exact}
        label={words.longestField}
        hint={words.longestHint}
        inputMode="decimal"
        value={draft.longest}
        onValue={(longest) => set({ longest })}
      />
    </div>
    <div class="beside">
      <Choice
        label={words.level}
        value={draft.level || 'ERROR'}
        options={severityOptions}
        onValue={(level) => set({ level: level === 'ERROR' ? '' : level })}
      />
      <Field {...exact} label={words.tags} hint={words.tagsHint} value={draft.tags} onValue={(tags) => set({ tags })} />
    </div>
  </>
);
