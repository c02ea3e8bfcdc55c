import type { Watch } from 'signalbox/client';
import { useSeen } from '../live/conditional.ts';
import { type DraftProps, useDraft } from '../live/submission.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { exact, Field } from '../ui/field.tsx';
import { notify } from '../ui/toast.tsx';
import { saveWatch } from './actions.tsx';
import { toSettings, type WatchDraft } from './draft.ts';
import { LimitFields, OwnFields } from './fields.tsx';
import { kindGroups } from './kinds.ts';
import { Found, TrialButton, useTrial } from './trial.tsx';

interface Props {
  draft: WatchDraft;
  /** Watch being edited. Undefined for a new one. */
  before?: Watch;
  known: readonly Watch[];
  onSaved: () => void;
  onClose: () => void;
}

export const WatchForm = ({ draft: first, before: present, known, onSaved, onClose }: Props) => {
  const before = useSeen(present);
  const trial = useTrial();
  const send = async (filled: WatchDraft) => {
    const settings = toSettings(filled, before?.settings);
    await saveWatch(settings, before);
    notify(words.saved(settings.name));
    onSaved();
    onClose();
  };
  const { form, attempt, submission } = useDraft(first, send, () => {
    trial.found.value = undefined;
  });
  const { draft, bind } = form;
  const name = draft.name.trim();
  const replaced = known.find((watch) => watch.origin === 'default' && watch.name === name);
  return (
    <FormDialog
      title={before ? words.editTitle(before.name) : words.newTitle}
      action={before ? words.saveAction : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {before ? (
        before.origin === 'default' && <p class="hint">{words.defaultHint}</p>
      ) : (
        <>
          <TypeChoice {...form} />
          <Field
            label={words.name}
            hint={replaced ? words.replaces(name) : words.nameHint}
            {...exact}
            {...bind('name')}
          />
        </>
      )}
      <OwnFields {...form} hidden={before?.hidden} />
      <LimitFields {...form} />
      <div>
        <TrialButton
          isRunning={trial.isRunning}
          onTest={() => void attempt(() => trial.run(toSettings({ ...draft, name: name || 'test' }, before?.settings)))}
        />
      </div>
      <Found found={trial.found} />
    </FormDialog>
  );
};

/** Selection of the type, in groups. Changing the type resets the limits. */
const TypeChoice = ({ draft, set }: DraftProps<WatchDraft>) => (
  <div class="field">
    <label for="watch-type">{words.type}</label>
    <select
      id="watch-type"
      value={draft.type}
      onChange={({ currentTarget }) =>
        set({ type: currentTarget.value as WatchDraft['type'], own: {}, limit: '', critical: '', clear: '' })
      }
    >
      {Object.entries(kindGroups).map(([group, types]) => (
        <optgroup key={group} label={words.groups[group as keyof typeof kindGroups]}>
          {types.map((type) => (
            <option key={type} value={type}>
              {words.types[type]}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  </div>
);
