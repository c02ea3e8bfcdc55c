import { useSignal } from '@preact/signals';
import { notify } from '../ui/toast.tsx';
import { toApiError } from './resource.ts';

/** Says why something has failed, unless the user has not logged in. */
export const notifyFailure = (reason: unknown): void => {
  const { problem, message } = toApiError(reason);
  if (problem !== 'login') notify(message, { kind: 'failure' });
};

/** Runs an action of a button, one at a time, and says why it failed. */
export const useRun = (action: () => Promise<void>): { isRunning: boolean; run: () => void } => {
  const isRunning = useSignal(false);
  const run = async (): Promise<void> => {
    if (isRunning.value) return;
    isRunning.value = true;
    await action().catch(notifyFailure);
    isRunning.value = false;
  };
  return { isRunning: isRunning.value, run: () => void run() };
};
