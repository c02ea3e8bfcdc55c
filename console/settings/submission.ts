import { useSignal } from '@preact/signals';
import { ApiError } from '../api.ts';
import { settings as words } from '../strings/settings.ts';

/** Sends what a dialog is about, one at a time, and keeps why it was refused. */
export const useSubmission = (send: () => Promise<void>) => {
  const error = useSignal('');
  const isRunning = useSignal(false);
  const submit = async (): Promise<void> => {
    if (isRunning.value) return;
    isRunning.value = true;
    error.value = '';
    await send().catch((reason: unknown) => {
      error.value = toReason(reason);
    });
    isRunning.value = false;
  };
  return { error: error.value, isDisabled: isRunning.value, onSubmit: () => void submit() };
};

const toReason = (reason: unknown): string => {
  if (reason instanceof ApiError && reason.status === 412) return words.conflict;
  return reason instanceof Error ? reason.message : String(reason);
};
