import { useSignal } from '@preact/signals';
import { send } from '../api.ts';
import { type Destination, listDeliveries, retryDelivery } from '../calls/deliveries.ts';
import { untilTime } from '../clock.ts';
import { toCount, toDuration, toRelative, toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Empty, Failure, Panel, Skeleton } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';

const words = text.deliveries;

/** How each destination is doing, and what was given up, with another try. */
export const DeliveriesScreen = () => {
  const load = (signal: AbortSignal) => send(listDeliveries, { signal });
  const { value, error, reload } = useResource(load, { topic: 'deliveries', calm: 500 });
  if (error && !value) return <Failure error={error} onRetry={reload} />;
  if (!value) return <Skeleton lines={12} />;
  if (value.data.length === 0) return <Empty title={words.none} hint={words.noneHint} />;
  return (
    <div class="destinations">
      {value.data.map((destination) => (
        <DestinationPanel key={destination.destination} destination={destination} onRetried={reload} />
      ))}
    </div>
  );
};

const looks: Record<Destination['state'], { tone: string; icon: IconName }> = {
  idle: { tone: 'good', icon: 'check' },
  delivering: { tone: 'info', icon: 'deliveries' },
  waiting: { tone: 'warning', icon: 'warning' },
  disabled: { tone: 'error', icon: 'error' },
};

const DestinationPanel = ({ destination, onRetried }: { destination: Destination; onRetried: () => void }) => {
  const { destination: name, type, state, parked, parkedAlerts } = destination;
  return (
    <Panel
      title={name}
      aside={
        <span class="actions">
          <span class="hint">{type}</span>
          <Chip {...looks[state]}>{words.states[state]}</Chip>
        </span>
      }
    >
      <dl class="figures">
        {toFigures(destination).map(([label, figure, isBad]) => (
          <div key={label} class={isBad ? 'bad' : ''}>
            <dt>{label}</dt>
            <dd>{figure}</dd>
          </div>
        ))}
      </dl>
      <Times destination={destination} />
      {parked > 0 && (
        <details class="parked" open={parked <= 5}>
          <summary>{words.parkedAlerts(toCount(parked))}</summary>
          {parkedAlerts.length < parked && <p class="hint">{words.shownOf(toCount(parkedAlerts.length))}</p>}
          <ul>
            {parkedAlerts.toReversed().map((alert) => (
              <ParkedAlert key={alert.id} destination={name} alert={alert} onRetried={onRetried} />
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
};

const toFigures = ({ lagAlerts, lagSeconds, parked, dropped }: Destination): [string, string, boolean][] => [
  [words.lag, toCount(lagAlerts), lagAlerts > 100],
  [words.oldest, lagSeconds === 0 ? '–' : toDuration(lagSeconds), lagSeconds > 60],
  [words.parked, toCount(parked), parked > 0],
  [words.dropped, toCount(dropped), dropped > 0],
];

const Times = ({ destination: { lastSuccess, lastError, nextAttempt } }: { destination: Destination }) => (
  <dl class="pairs">
    <div>
      <dt>{words.lastSuccess}</dt>
      <dd>{lastSuccess ? <Ago time={lastSuccess} /> : <span class="hint">{words.never}</span>}</dd>
    </div>
    <div>
      <dt>{words.lastError}</dt>
      <dd>
        {lastError ? (
          <>
            <Ago time={lastError.time} /> · <LongText value={lastError.reason} most={300} />
          </>
        ) : (
          <span class="hint">{words.never}</span>
        )}
      </dd>
    </div>
    {nextAttempt && (
      <div>
        <dt>{words.nextAttempt}</dt>
        <dd>
          <Ago time={nextAttempt} />
        </dd>
      </div>
    )}
  </dl>
);

const Ago = ({ time }: { time: string }) => (
  <time dateTime={time} title={toTime(new Date(time))}>
    {toRelative(untilTime(Date.parse(time)))}
  </time>
);

interface ParkedProps {
  destination: string;
  alert: Destination['parkedAlerts'][number];
  onRetried: () => void;
}

const ParkedAlert = ({ destination, alert: { id, time, reason }, onRetried }: ParkedProps) => {
  const isRunning = useSignal(false);
  const retry = async () => {
    if (isRunning.value) return;
    isRunning.value = true;
    try {
      const { delivered, reason: why } = await send(retryDelivery, { params: { destination, id }, interactive: true });
      notify(delivered ? words.delivered : words.stillParked(why ?? ''), { kind: delivered ? 'note' : 'failure' });
      onRetried();
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error), { kind: 'failure' });
    }
    isRunning.value = false;
  };
  return (
    <li>
      <time dateTime={time}>{toTime(new Date(time))}</time>
      <a class="mono one-line" href={`#/alerts/${id}`}>
        {id}
      </a>
      <span class="reason">
        <LongText value={reason} most={200} />
      </span>
      <button type="button" aria-label={words.retryOf(id)} aria-disabled={isRunning.value} onClick={retry}>
        <Icon name="repeat" /> {words.retry}
      </button>
    </li>
  );
};
