import { userClient } from '../api.ts';
import { useRun } from '../live/run.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { notify } from '../ui/toast.tsx';

const words = text.notifications;

interface Props {
  destination: string;
  /** Of the alert, or of the incident. */
  id: string;
  name: string;
  onRetried: () => void;
}

/** Sends again what did not reach a destination. */
export const RetryButton = ({ destination, id, name, onRetried }: Props) => {
  const { isRunning, run } = useRun(async () => {
    const { delivered, reason } = await userClient.retryDelivery({ destination, id });
    notify(delivered ? words.delivered : words.stillHeld(reason ?? ''), { kind: delivered ? 'note' : 'failure' });
    onRetried();
  });
  return (
    <button type="button" aria-label={words.retryOf(name)} aria-disabled={isRunning} onClick={run}>
      <Icon name="repeat" /> {words.retry}
    </button>
  );
};
