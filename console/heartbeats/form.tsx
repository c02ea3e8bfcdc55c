import type { Heartbeat } from 'signalbox/client';
import { userClient } from '../api.ts';
import { putSeen, useSeen } from '../live/conditional.ts';
import { type DraftProps, useDraft } from '../live/submission.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { text } from '../strings/index.ts';
import { Segments } from '../ui/chip.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, CheckBox, Choice, exact, Field } from '../ui/field.tsx';
import { ScheduleFields } from '../ui/schedule-fields.tsx';
import { severityOptions } from '../ui/severity.tsx';
import { notify } from '../ui/toast.tsx';
import { type HeartbeatDraft, heartbeatModes, periodUnits, toHeartbeatDefinition } from './draft.ts';

interface Props {
  draft: HeartbeatDraft;
  /** Heartbeat being edited. Undefined for a new one. */
  before?: Heartbeat;
  onSaved: (name: string) => void;
  onClose: () => void;
}

type PartProps = DraftProps<HeartbeatDraft>;

export const HeartbeatForm = ({ draft: first, before: present, onSaved, onClose }: Props) => {
  const before = useSeen(present);
  const { form, submission } = useDraft(first, async (filled) => {
    const name = filled.name.trim();
    if (name === '') throw new Error(words.noName);
    const definition = toHeartbeatDefinition(filled);
    const put = (options: object) => userClient.putHeartbeat({ ...definition, name }, options);
    await putSeen(put, before, words.exists(name));
    notify(words.saved(name));
    onSaved(name);
  });
  const { draft, set, bind } = form;
  return (
    <FormDialog
      title={before ? words.editTitle(before.name) : words.newTitle}
      action={before ? words.saveAction : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && <Field {...exact} label={words.name} hint={words.nameHint} {...bind('name')} />}
      <Times {...form} />
      <Limits {...form} />
      <Area label={words.description} hint={words.descriptionHint} lines={2} {...bind('description')} />
      <Field {...exact} label={text.dependsOn} hint={text.dependsOnHint} {...bind('dependsOn')} />
      <CheckBox label={words.open} checked={draft.isOpen} onValue={(isOpen) => set({ isOpen })} />
    </FormDialog>
  );
};

/** Schedule fields. */
const Times = ({ draft, set, bind }: PartProps) => (
  <>
    <Segments
      label={words.when}
      value={draft.mode}
      options={heartbeatModes.map((mode) => [mode, words.modes[mode]] as const)}
      onValue={(mode) => set({ mode })}
    />
    {draft.mode === 'every' && (
      <div class="beside">
        <Field {...exact} label={words.period} inputMode="decimal" {...bind('count')} />
        <Choice
          label={words.unit}
          options={periodUnits.map((unit): [string, string] => [unit, words.units[unit]])}
          {...bind('unit')}
        />
      </div>
    )}
    <ScheduleFields draft={draft} set={set} bind={bind} />
    {draft.mode !== 'every' && <Field {...exact} label={words.timeZone} {...bind('timeZone')} />}
  </>
);

const Limits = ({ draft, set, bind }: PartProps) => (
  <>
    <div class="beside">
      <Field {...exact} label={words.graceField} hint={words.graceHint} inputMode="decimal" {...bind('grace')} />
      <Field {...exact} label={words.longestField} hint={words.longestHint} inputMode="decimal" {...bind('longest')} />
    </div>
    <div class="beside">
      <Choice
        label={words.level}
        value={draft.level || 'ERROR'}
        options={severityOptions}
        onValue={(level) => set({ level: level === 'ERROR' ? '' : level })}
      />
      <Field {...exact} label={words.tags} hint={words.tagsHint} {...bind('tags')} />
    </div>
  </>
);
