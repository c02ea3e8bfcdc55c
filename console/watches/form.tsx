import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Watch } from 'signalbox/client';
import { userClient } from '../api.ts';
import { explain } from '../live/explain.ts';
import { watches as words } from '../strings/watches.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { notify } from '../ui/toast.tsx';
import { type Draft, toSettings } from './draft.ts';
import { LimitFields, OwnFields } from './fields.tsx';
import { groups } from './kinds.ts';
import { Found, TestButton, useTrial } from './trial.tsx';

interface Props {
  draft: Draft;
  /** The watch that is changed; a new one is made without it. */
  before?: Watch;
  known: readonly Watch[];
  onSaved: () => void;
  onClose: () => void;
}

/** The form of a watch, over the list. */
export const WatchForm = ({ draft: first, before: present, known, onSaved, onClose }: Props) => {
  const draft = useSignal(first);
  // As the user has seen it: what others change meanwhile is not overwritten.
  const [before] = useState(present);
  const error = useSignal('');
  const isRunning = useSignal(false);
  const trial = useTrial();
  const set = (changes: Partial<Draft>) => {
    error.value = '';
    trial.found.value = undefined;
    draft.value = { ...draft.value, ...changes };
  };
  const attempt = async (act: () => Promise<void>) => {
    error.value = '';
    try {
      await act();
    } catch (reason) {
      error.value = explain(reason);
    }
  };
  const submit = async () => {
    if (isRunning.value) return;
    isRunning.value = true;
    await attempt(async () => {
      const settings = toSettings(draft.value);
      if (before?.version) {
        const ifMatch = `"${before.version}"`;
        await userClient.replaceWatch({ ...settings, watch: before.name }, { ifMatch });
      } else {
        await userClient.createWatch(settings);
      }
      notify(words.saved(settings.name));
      onSaved();
      onClose();
    });
    isRunning.value = false;
  };
  const name = draft.value.name.trim();
  const replaced = known.find((watch) => watch.origin === 'default' && watch.name === name);
  return (
    <FormDialog
      title={before ? words.editTitle(before.name) : words.newTitle}
      action={before ? words.saveAction : words.createAction}
      onSubmit={() => void submit()}
      onClose={onClose}
      isDisabled={isRunning.value}
      error={error.value}
    >
      {before ? (
        before.origin === 'default' && <p class="hint">{words.defaultHint}</p>
      ) : (
        <>
          <TypeChoice draft={draft.value} set={set} />
          <Field
            label={words.name}
            hint={replaced ? words.replaces(name) : words.nameHint}
            value={draft.value.name}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onValue={(value) => set({ name: value })}
          />
        </>
      )}
      <OwnFields draft={draft.value} set={set} />
      <LimitFields draft={draft.value} set={set} />
      <div>
        <TestButton
          isRunning={trial.isRunning}
          onTest={() => void attempt(() => trial.run(toSettings({ ...draft.value, name: name || 'test' })))}
        />
      </div>
      <Found found={trial.found} />
    </FormDialog>
  );
};

/** Types in groups. Another one has other limits. */
const TypeChoice = ({ draft, set }: { draft: Draft; set: (changes: Partial<Draft>) => void }) => (
  <div class="field">
    <label for="watch-type">{words.type}</label>
    <select
      id="watch-type"
      value={draft.type}
      onChange={({ currentTarget }) =>
        set({ type: currentTarget.value as Draft['type'], own: {}, limit: '', critical: '', clear: '' })
      }
    >
      {Object.entries(groups).map(([group, types]) => (
        <optgroup key={group} label={words.groups[group as keyof typeof groups]}>
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
