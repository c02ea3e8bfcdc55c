import { useSignal } from '@preact/signals';
import { notify } from '../ui/toast.tsx';
import { toApiError } from './resource.ts';

/** Runs an action of a button, one at a time, and says why it failed. */
export const useRun = (action: () => Promise<void>): { isRunning: boolean; run: () => void } => {
  const isRunning = useSignal(false);
  const run = async (): Promise<void> => {
    if (isRunning.value) return;
    isRunning.value = true;
    await action().catch((reason: unknown) => {
      const { problem, message } = toApiError(reason);
      if (problem !== 'login') notify(message, { kind: 'failure' });
    });
    isRunning.value = false;
  };
  return { isRunning: isRunning.value, run: () => void run() };
};
