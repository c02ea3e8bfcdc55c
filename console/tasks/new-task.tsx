import { signal, useSignal } from '@preact/signals';
import type { NewTask, TaskPriority as Priority } from 'signalbox/client';
import { createRepeatId } from '../../src/client/send.ts';
import { toCount } from '../format.ts';
import { text } from '../strings/index.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, Choice, Field } from '../ui/field.tsx';
import { notify } from '../ui/toast.tsx';
import { create } from './actions.ts';
import { taskPriorities } from './filter.ts';
import type { LiveTasks } from './list.ts';
import { explainRefusal } from './reason.ts';

const words = text.tasks;

type Draft = Required<Pick<NewTask, 'Title' | 'Description' | 'Priority'>>;
const blank: Draft = { Title: '', Description: '', Priority: 'Medium' };

/** Text in the form, kept until the task is created, so that closing the form loses nothing. */
const draft = signal(blank);

/**
 * Last request with its idempotency key, so that repeating the request after a lost connection does not create a second
 * task.
 */
let sent: { fields: Draft; key: string } | undefined;

const keyOf = (fields: Draft): string => {
  const isSame = sent && Object.entries(sent.fields).every(([name, value]) => fields[name as keyof Draft] === value);
  if (!sent || !isSame) sent = { fields, key: createRepeatId() };
  return sent.key;
};

/** Dialog with the form for a new task. */
export const NewTaskDialog = ({ list, onClose }: { list: LiveTasks; onClose: () => void }) => {
  const error = useSignal<string | undefined>(undefined);
  const isRunning = useSignal(false);
  const submit = async () => {
    if (isRunning.value) return;
    isRunning.value = true;
    try {
      const { Id: id } = await create(list, draft.value, keyOf(draft.value));
      sent = undefined;
      draft.value = blank;
      notify(words.created(toCount(id)));
      onClose();
    } catch (reason) {
      error.value = explainRefusal(reason);
    }
    isRunning.value = false;
  };
  const set = (changes: Partial<Draft>) => {
    error.value = undefined;
    draft.value = { ...draft.value, ...changes };
  };
  return (
    <FormDialog
      title={words.create}
      action={words.createAction}
      onSubmit={() => void submit()}
      onClose={onClose}
      isDisabled={isRunning.value}
    >
      <Field
        label={words.title}
        value={draft.value.Title}
        error={error.value}
        required
        autocomplete="off"
        onValue={(Title) => set({ Title })}
      />
      <Area label={words.description} value={draft.value.Description} onValue={(Description) => set({ Description })} />
      <Choice
        label={words.priority}
        value={draft.value.Priority}
        options={taskPriorities.map((each) => [each, words.priorities[each]])}
        onValue={(value) => set({ Priority: value as Priority })}
      />
    </FormDialog>
  );
};
