import type { IncidentDetails, IncidentNotification } from 'signalbox/client';
import { toTime } from '../format.ts';
import { describeWait } from '../live/waits.ts';
import { toHash } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { LongText } from '../ui/long-text.tsx';

const words = text.notifications;

/** Sent and planned notifications of an incident, by destination. */
export const Notifications = ({ incident: { notifications, number } }: { incident: IncidentDetails }) => {
  if (notifications.length === 0) return null;
  return (
    <>
      <h3>{text.incidents.notifications}</h3>
      <dl class="pairs">
        {notifications.map((each) => (
          <div key={each.destination}>
            <dt>
              <bdi>{each.destination}</bdi>
            </dt>
            <dd>
              <Notified {...each} />
            </dd>
          </div>
        ))}
      </dl>
      {isAllowed('listNotifications') && (
        <p>
          <a href={toHash('/notifications', { view: 'sent', incident: `${number}` })}>
            {text.incidents.allNotifications}
          </a>
        </p>
      )}
    </>
  );
};

const Notified = ({ last, next }: IncidentNotification) => (
  <>
    {last ? (
      <span title={text.alerts.severities[last.level]}>
        {words.notified(words.kinds[last.what], toTime(Date.parse(last.at)))}
      </span>
    ) : (
      !next && <span class="hint">{words.nothingSent}</span>
    )}
    {next && (
      <div class={last ? 'hint' : ''}>
        <LongText
          value={
            last
              ? words.next(words.kinds[next.what].toLowerCase(), describeWait(next))
              : words.nothingSentYet(describeWait(next))
          }
          most={300}
        />
      </div>
    )}
  </>
);
