import { useSignal } from '@preact/signals';
import { explain } from '../live/explain.ts';

/** Sends what a dialog is about, one at a time, and keeps why it was refused. */
export const useSubmission = (send: () => Promise<void>) => {
  const error = useSignal('');
  const isRunning = useSignal(false);
  const submit = async (): Promise<void> => {
    if (isRunning.value) return;
    isRunning.value = true;
    error.value = '';
    await send().catch((reason: unknown) => {
      error.value = explain(reason);
    });
    isRunning.value = false;
  };
  return { error: error.value, isDisabled: isRunning.value, onSubmit: () => void submit() };
};
