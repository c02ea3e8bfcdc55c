import { useSignal } from '@preact/signals';
import { ApiError } from '../api.ts';
import { text } from '../strings/index.ts';

/** Why a form was not accepted; a conflict with what others have changed tells what to do. */
const explain = (reason: unknown): string => {
  if (reason instanceof ApiError && reason.status === 412) return text.errors.conflict;
  return reason instanceof Error ? reason.message : String(reason);
};

const useAttempts = (send: () => Promise<void>) => {
  const error = useSignal('');
  const isRunning = useSignal(false);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    error.value = '';
    try {
      await act();
    } catch (reason) {
      error.value = explain(reason);
    }
  };
  const submit = async (): Promise<void> => {
    if (isRunning.value) return;
    isRunning.value = true;
    await attempt(send);
    isRunning.value = false;
  };
  const submission = { error: error.value, isDisabled: isRunning.value, onSubmit: () => void submit() };
  return { error, attempt, submission };
};

/** Sends what a dialog is about, one at a time, and keeps why it was refused. */
export const useSubmission = (send: () => Promise<void>) => useAttempts(send).submission;

/** The members of a draft that hold what is typed. */
type TextName<Draft> = { [Name in keyof Draft]: string extends Draft[Name] ? Name : never }[keyof Draft];

/** What the parts of a form with a draft get. */
export interface DraftProps<Draft> {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  /** Lets a field show and change a text of the draft. */
  bind: (name: TextName<Draft>) => { value: string; onValue: (value: string) => void };
}

/**
 * The same for a form with a draft: each change of it takes back why the last attempt was refused. `attempt` does
 * something else with the draft, and shows in the same place why it failed.
 */
export const useDraft = <Draft extends object>(
  first: Draft,
  send: (draft: Draft) => Promise<void>,
  onChange?: () => void,
) => {
  const draft = useSignal(first);
  const { error, ...rest } = useAttempts(() => send(draft.value));
  const set = (changes: Partial<Draft>): void => {
    error.value = '';
    draft.value = { ...draft.value, ...changes };
    onChange?.();
  };
  const bind: DraftProps<Draft>['bind'] = (name) => ({
    value: draft.value[name] as string,
    onValue: (value) => set({ [name]: value } as Partial<Draft>),
  });
  const form: DraftProps<Draft> = { draft: draft.value, set, bind };
  return { form, ...rest };
};

/** The number that is typed into a field; undefined without one. Throws an Error that can be shown. */
export const readNumber = (label: string, typed: string): number | undefined => {
  if (typed.trim() === '') return undefined;
  const value = Number(typed.trim().replace(',', '.'));
  if (!Number.isFinite(value)) throw new Error(text.errors.number(label));
  return value;
};
