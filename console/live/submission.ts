import { useSignal } from '@preact/signals';
import { ApiError } from '../api.ts';
import { text } from '../strings/index.ts';

/** Returns the reason why a form was refused. For a conflict, also says what to do. */
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

/** Submits a dialog, one request at a time. Keeps the reason of a refusal. */
export const useSubmission = (send: () => Promise<void>) => useAttempts(send).submission;

/** Names of a draft's text fields. */
type TextName<Draft> = { [Name in keyof Draft]: string extends Draft[Name] ? Name : never }[keyof Draft];

/** Properties of form sections that share one draft. */
export interface DraftProps<Draft> {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  /** Binds a field to one of the draft's texts. */
  bind: (name: TextName<Draft>) => { value: string; onValue: (value: string) => void };
}

/**
 * Creates the state of a form with a draft. Each change clears the last error. `attempt` runs another action with the
 * draft and shows the error of that action in the same place.
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

/**
 * Returns the number typed into a field. Undefined if the field is empty. Throws an Error with a message for the user.
 */
export const readNumber = (label: string, typed: string): number | undefined => {
  if (typed.trim() === '') return undefined;
  const value = Number(typed.trim().replace(',', '.'));
  if (!Number.isFinite(value)) throw new Error(text.errors.number(label));
  return value;
};

/** Splits a typed list at its commas. */
export const readList = (typed: string): string[] => typed.split(',').flatMap((each) => each.trim() || []);
