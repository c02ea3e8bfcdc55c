import type { DestinationState } from 'signalbox/client';
import { toCount } from '../format.ts';
import { describeWait } from '../live/waits.ts';
import { toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { LongText } from '../ui/long-text.tsx';
import { SeverityChip } from '../ui/severity.tsx';
import { RetryButton } from './retry-button.tsx';

const words = text.notifications;

/** Maximum length of a list that is initially expanded. */
const mostOpen = 5;
/** Maximum number of characters of a reason in the list. */
const mostShown = 200;

type WaitingNotification = DestinationState['waitingNotices'][number];

interface Props {
  destination: DestinationState;
  onRetried: () => void;
}

/** Planned notifications of a destination. Each shows the reason for its delay. */
export const WaitingNotifications = ({ destination: { destination, waitingNotices }, onRetried }: Props) => {
  if (waitingNotices.length === 0) return null;
  return (
    <details class="held-alerts" open={waitingNotices.length <= mostOpen}>
      <summary>{words.nextNotifications(toCount(waitingNotices.length))}</summary>
      <ul>
        {waitingNotices.map((notification) => (
          <Waiting
            key={notification.incident}
            notification={notification}
            destination={destination}
            onRetried={onRetried}
          />
        ))}
      </ul>
    </details>
  );
};

const Waiting = ({
  notification,
  destination,
  onRetried,
}: {
  notification: WaitingNotification;
  destination: string;
  onRetried: () => void;
}) => {
  const { incident, number, title, level, what, waitsFor, attempts } = notification;
  const isRetried = waitsFor === 'receiver' && attempts > 0;
  return (
    <li>
      <span class="held-line">
        <SeverityChip severity={level} />
        <a class="two-line" href={toHash(`/incidents/${number}`)}>
          <span class="incident-number">{text.incidents.number(number)}</span> <bdi>{title}</bdi>
        </a>
      </span>
      <span class="hint">
        {words.kinds[what]} · <LongText value={describeWait(notification)} most={mostShown} />
      </span>
      {isRetried && <RetryButton destination={destination} onRetried={onRetried} id={incident} name={title} />}
    </li>
  );
};
