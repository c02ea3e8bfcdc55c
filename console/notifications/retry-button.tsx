import { userClient } from '../api.ts';
import { useRun } from '../live/run.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { notify } from '../ui/toast.tsx';

const words = text.notifications;

interface Props {
  destination: string;
  /** Id of the alert or incident. */
  id: string;
  name: string;
  onRetried: () => void;
}

export const RetryButton = ({ destination, id, name, onRetried }: Props) => {
  const { isRunning, run } = useRun(async () => {
    const { delivered, reason } = await userClient.retryDelivery({ destination, id });
    notify(delivered ? words.delivered : words.stillHeld(reason ?? ''), { kind: delivered ? 'note' : 'failure' });
    onRetried();
  });
  if (!isAllowed('retryDelivery')) return null;
  return (
    <IconButton icon="repeat" label={words.retry} name={words.retryOf(name)} isDisabled={isRunning} onClick={run} />
  );
};
