import { useSignal } from '@preact/signals';
import { notify } from '../ui/toast.tsx';
import { toApiError } from './resource.ts';

/** Shows the reason for a failure, unless the user declined to log in. */
export const notifyFailure = (reason: unknown): void => {
  const { problem, message } = toApiError(reason);
  if (problem !== 'login') notify(message, { kind: 'failure' });
};

/** Runs the action of a button, one run at a time, and shows the reason for a failure. */
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
