import type { ParkedAlert, WaitingAlert } from 'signalbox/client';
import { toCount, toTime } from '../format.ts';
import { text } from '../strings/index.ts';
import { LongText } from '../ui/long-text.tsx';
import { SeverityChip } from '../ui/severity.tsx';
import { RetryButton } from './retry-button.tsx';

const words = text.notifications;

/** Maximum length of a list that is initially expanded. */
const mostOpen = 5;
/** Maximum number of characters of a message in the list. */
const mostShown = 200;

/** Waiting or given-up alert. Its text is null if the alert is no longer in the log. */
type HeldAlert = Pick<ParkedAlert, 'id' | 'time' | 'severity' | 'source' | 'message'> &
  Partial<ParkedAlert & WaitingAlert>;

interface Props {
  title: (count: string) => string;
  /** Number of held alerts. `alerts` may contain only some of them. */
  count: number;
  alerts: readonly HeldAlert[];
  destination: string;
  onRetried: () => void;
}

/** Undelivered alerts of a destination. Each has a button to retry. */
export const HeldAlerts = ({ title, count, alerts, ...rest }: Props) => {
  if (alerts.length === 0) return null;
  return (
    <details class="held-alerts" open={count <= mostOpen}>
      <summary>{title(toCount(count))}</summary>
      {alerts.length < count && <p class="hint">{words.shownOf(toCount(alerts.length))}</p>}
      <ul>
        {alerts.map((alert) => (
          <Held key={alert.id} alert={alert} {...rest} />
        ))}
      </ul>
    </details>
  );
};

const Held = ({ alert, destination, onRetried }: Pick<Props, 'destination' | 'onRetried'> & { alert: HeldAlert }) => {
  const { id, time, reason, severity, source, message, attempts, nextAttempt } = alert;
  const name = message?.slice(0, mostShown) || words.gone;
  return (
    <li>
      <span class="held-line">
        {severity && <SeverityChip severity={severity} />}
        <a class="one-line" href={`#/alerts/${id}`}>
          <bdi>{name}</bdi>
        </a>
      </span>
      <span class="hint">
        <time dateTime={time}>{toTime(Date.parse(time))}</time>
        {source && (
          <>
            {' · '}
            <bdi>{source}</bdi>
          </>
        )}
        {reason && (
          <>
            {' · '}
            <LongText value={reason} most={mostShown} />
          </>
        )}
        {attempts !== undefined && attempts > 0 && ` · ${words.attempts(toCount(attempts))}`}
        {nextAttempt && ` · ${words.nextAt(toTime(Date.parse(nextAttempt)))}`}
      </span>
      <RetryButton destination={destination} id={id} name={name} onRetried={onRetried} />
    </li>
  );
};
