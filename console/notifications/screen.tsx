import type { DestinationState as Destination } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toCount, toDuration, toRelative, toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Empty, Panel, Unloaded } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';
import { HeldAlerts, useRun } from './held-alerts.tsx';

const words = text.notifications;

/** How each destination is doing, what waits, and what was given up, with another try. */
const NotificationsScreen = () => {
  const load = (signal: AbortSignal) => client.listDeliveries(undefined, { signal });
  const { value, error, reload } = useResource(load, { topic: 'deliveries', replace: (data) => data });
  if (!value) return <Unloaded {...{ error, reload }} lines={12} />;
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
  delivering: { tone: 'info', icon: 'notifications' },
  waiting: { tone: 'warning', icon: 'warning' },
  failing: { tone: 'error', icon: 'error' },
};

/** The state in words. A destination with nothing to do is not well while alerts did not reach it. */
const StateChip = ({ destination: { state, parked, failingSince } }: { destination: Destination }) => {
  if (state === 'idle' && parked > 0) {
    return (
      <Chip tone="warning" icon="warning">
        {words.notDelivered(toCount(parked))}
      </Chip>
    );
  }
  const said = state === 'failing' && failingSince ? words.failingSince(toTime(Date.parse(failingSince))) : undefined;
  return <Chip {...looks[state]}>{said ?? words.states[state]}</Chip>;
};

const DestinationPanel = ({ destination, onRetried }: { destination: Destination; onRetried: () => void }) => {
  const { destination: name, type, address, state, parked, parkedAlerts, waitingAlerts } = destination;
  return (
    <Panel
      title={name}
      kind={`destination ${state === 'failing' ? 'failing' : ''}`}
      aside={<StateChip destination={destination} />}
    >
      <p class="hint">
        <bdi>
          {type} · {address}
        </bdi>
      </p>
      {state === 'failing' && <p class="note alarm">{words.failingHint}</p>}
      <dl class="figures">
        {toFigures(destination).map(([label, figure, isBad]) => (
          <div key={label} class={isBad ? 'bad' : ''}>
            <dt>{label}</dt>
            <dd>{figure}</dd>
          </div>
        ))}
      </dl>
      <RetryAll destination={destination} onRetried={onRetried} />
      <Facts destination={destination} />
      <HeldAlerts
        title={words.waitingAlerts}
        count={destination.lagAlerts}
        alerts={waitingAlerts}
        {...{ destination: name, onRetried }}
      />
      <HeldAlerts
        title={words.parkedAlerts}
        count={parked}
        alerts={parkedAlerts.toReversed()}
        {...{ destination: name, onRetried }}
      />
    </Panel>
  );
};

const toFigures = ({ lagAlerts, lagSeconds, parked, dropped }: Destination): [string, string, boolean][] => [
  [words.lag, toCount(lagAlerts), lagAlerts > 100],
  [words.oldest, lagSeconds === 0 ? '–' : toDuration(lagSeconds), lagSeconds > 60],
  [words.parked, toCount(parked), parked > 0],
  [words.dropped, toCount(dropped), dropped > 0],
];

const RetryAll = ({ destination: { destination, parked, lagAlerts }, onRetried }: PanelProps) => {
  const { isRunning, run } = useRun(async () => {
    const { waiting } = await userClient.retryDestination({ destination });
    notify(words.retried(toCount(waiting)));
    onRetried();
  });
  if (parked + lagAlerts === 0) return null;
  return (
    <div class="actions">
      <button type="button" aria-label={words.retryAllOf(destination)} aria-disabled={isRunning} onClick={run}>
        <Icon name="repeat" /> {words.retryAll}
      </button>
    </div>
  );
};

interface PanelProps {
  destination: Destination;
  onRetried: () => void;
}

const Facts = ({ destination }: { destination: Destination }) => {
  const { lastSuccess, lastError, nextAttempt, filter, repeatMinutes } = destination;
  return (
    <dl class="pairs">
      <div>
        <dt>{words.gets}</dt>
        <dd>
          <bdi>{toFilter(filter)}</bdi>
        </dd>
      </div>
      <div>
        <dt>{words.repeats}</dt>
        <dd>{repeatMinutes === 0 ? words.noRepeats : words.every(toDuration(repeatMinutes * 60))}</dd>
      </div>
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
};

/** Which alerts it gets, in words. */
const toFilter = ({ levels, sources, formats }: Destination['filter']): string =>
  [
    levels ? levels.join(', ') : words.allLevels,
    sources && `${words.from} ${sources.join(', ')}`,
    formats && `${words.inFormat} ${formats.join(', ')}`,
  ]
    .filter(Boolean)
    .join(' ');

const Ago = ({ time }: { time: string }) => (
  <time dateTime={time} title={toTime(Date.parse(time))}>
    {toRelative(untilTime(Date.parse(time)))}
  </time>
);

export const notificationsView: ScreenView = { Screen: NotificationsScreen };
