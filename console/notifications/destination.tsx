import type { ComponentChildren } from 'preact';
import type { DestinationState as Destination, OnCall } from 'signalbox/client';
import { userClient } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toCount, toDuration, toRelative, toTime } from '../format.ts';
import { useRun } from '../live/run.ts';
import { toHash } from '../router.ts';
import { isAllowed, isReadable } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Chip, type Look } from '../ui/chip.tsx';
import { DestinationTest, mostOfResponse } from '../ui/destination-test.tsx';
import { Icon } from '../ui/icon.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';
import { HeldAlerts } from './held-alerts.tsx';
import { WaitingNotifications } from './waiting-notifications.tsx';

const words = text.notifications;

interface Props {
  destination: Destination;
  /** State of the rotations, if the server has any. */
  onCall: readonly OnCall[];
  onRetried: () => void;
}

/** Delivery status of a destination, with waiting and given-up notifications and buttons to retry. */
export const DestinationPanel = ({ destination, onCall, onRetried }: Props) => {
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
      <Actions destination={destination} onRetried={onRetried} />
      <Facts destination={destination} onCall={onCall} />
      <WaitingNotifications destination={destination} onRetried={onRetried} />
      <HeldAlerts
        title={words.waitingAlerts}
        count={destination.lagAlerts}
        alerts={waitingAlerts}
        destination={name}
        onRetried={onRetried}
      />
      <HeldAlerts
        title={words.parkedAlerts}
        count={parked}
        alerts={parkedAlerts.toReversed()}
        destination={name}
        onRetried={onRetried}
      />
    </Panel>
  );
};

const looks: Record<Destination['state'], Look> = {
  idle: { tone: 'good', icon: 'check' },
  delivering: { tone: 'info', icon: 'notifications' },
  waiting: { tone: 'warning', icon: 'warning' },
  failing: { tone: 'error', icon: 'error' },
};

/** Delivery status in words. An idle destination with alerts that were given up is not shown as good. */
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

const toFigures = (destination: Destination): [string, string, boolean][] => {
  const { incidents, lagAlerts, lagIncidents, lagSeconds, parked, dropped } = destination;
  const oldest: [string, string, boolean][] =
    lagSeconds === 0 ? [] : [[words.oldest, toDuration(lagSeconds), lagSeconds > 60]];
  if (incidents) return [[words.lag, toCount(lagIncidents), lagIncidents > 100], ...oldest];
  return [
    [words.lag, toCount(lagAlerts), lagAlerts > 100],
    ...oldest,
    [words.parked, toCount(parked), parked > 0],
    [words.dropped, toCount(dropped), dropped > 0],
  ];
};

type PartProps = Pick<Props, 'destination' | 'onRetried'>;

const Actions = ({ destination, onRetried }: PartProps) => {
  const { destination: name, incidents, parked, lagAlerts, lagIncidents } = destination;
  const retry = useRun(async () => {
    const { waiting } = await userClient.retryDestination({ destination: name });
    notify(words.retried(toCount(waiting), incidents === null));
    onRetried();
  });
  return (
    <DestinationTest name={name}>
      {isAllowed('retryDestination') && parked + lagAlerts + lagIncidents > 0 && (
        <IconButton
          icon="repeat"
          label={words.retryAll}
          name={words.retryAllOf(name)}
          isDisabled={retry.isRunning}
          onClick={retry.run}
        />
      )}
      {isReadable('listDestinations') && (
        <a class="button" href={toHash('/settings/destinations', { open: name })}>
          <Icon name="settings" /> {words.settings}
          <span class="unseen"> {name}</span>
        </a>
      )}
    </DestinationTest>
  );
};

const Facts = ({ destination, onCall }: Pick<Props, 'destination' | 'onCall'>) => {
  const { destination: name, lastSuccess, lastError, nextAttempt, incidents, repeatMinutes } = destination;
  const rotations = onCall.filter(({ kind, members }) => kind === 'destination' && members.includes(name));
  return (
    <dl class="pairs">
      <Fact name={words.gets}>
        <bdi>{incidents ? toIncidents(destination, incidents) : toFilter(destination.filter)}</bdi>
      </Fact>
      {incidents ? (
        <Rules rules={incidents} />
      ) : (
        <Fact name={words.repeats}>
          {repeatMinutes === 0 ? words.noRepeats : words.every(toDuration(repeatMinutes * 60))}
        </Fact>
      )}
      {rotations.length > 0 && (
        <Fact name={words.onCallFact}>
          {rotations
            .map(({ rotation, member }) => (member === name ? words.isOnCall : words.isNotOnCall)(rotation))
            .join(', ')}
        </Fact>
      )}
      <Fact name={words.lastSuccess}>
        {lastSuccess ? <Ago time={lastSuccess} /> : <span class="hint">{words.never}</span>}
      </Fact>
      <Fact name={words.lastError}>
        {lastError ? (
          <>
            <Ago time={lastError.time} /> · <LongText value={lastError.reason} most={mostOfResponse} />
          </>
        ) : (
          <span class="hint">{words.never}</span>
        )}
      </Fact>
      {nextAttempt && (
        <Fact name={words.nextAttempt}>
          {untilTime(Date.parse(nextAttempt)) >= 1000 ? <Ago time={nextAttempt} /> : words.now}
        </Fact>
      )}
    </dl>
  );
};

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Rules for incident notifications. */
const Rules = ({ rules }: { rules: NonNullable<Destination['incidents']> }) => {
  const { after, repeat, groupSeconds, hours, hoursExcept } = rules;
  return (
    <>
      {after > 0 && <Fact name={words.after}>{words.afterHint(toDuration(after * 60))}</Fact>}
      {repeat !== null && <Fact name={words.repeats}>{words.everyUntilAcknowledged(toDuration(repeat * 60))}</Fact>}
      {groupSeconds >= 1 && <Fact name={words.together}>{words.togetherHint(toDuration(groupSeconds))}</Fact>}
      {hours !== null && (
        <Fact name={words.hours}>
          {[hours, hoursExcept.length > 0 && words.hoursExcept(toNames(hoursExcept))].filter(Boolean).join('; ')}
        </Fact>
      )}
    </>
  );
};

const toNames = (levels: NonNullable<Destination['incidents']>['hoursExcept']): string =>
  levels.map((level) => text.alerts.severities[level]).join(', ');

/** Describes an incident filter in words. */
const toIncidents = ({ filter: { levels, sources } }: Destination, { on }: NonNullable<Destination['incidents']>) => {
  const kinds = on.filter((kind) => kind !== 'reminder').map((kind) => words.kinds[kind].toLowerCase());
  return [
    words.incidentsThat(words.or(kinds.slice(0, -1).join(', '), kinds.at(-1) ?? '')),
    levels && words.of(levels.join(', ')),
    sources && `${words.from} ${sources.join(', ')}`,
  ]
    .filter(Boolean)
    .join(' ');
};

/** Describes an alert filter in words. */
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
