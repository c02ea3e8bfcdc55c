import type { HealthStatus } from 'signalbox/client';
import { client } from '../api.ts';
import { now } from '../clock.ts';
import { toDuration, toSeconds } from '../format.ts';
import { openIncidents } from '../live/incidents.ts';
import { useResource } from '../live/resource.ts';
import { healthStatus } from '../live/status.ts';
import { toHash } from '../router.ts';
import { isAllowed, isMounted, isReadable } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { Failure, Panel, Skeleton } from '../ui/panel.tsx';
import { toTone } from '../ui/severity.tsx';

const words = text.overview;

/**
 * Resolves to true if the server has no destinations, or to undefined for users without access. A server in quiet mode
 * reports its own problem instead.
 */
const readHasNoDestinations = async (signal: AbortSignal) => {
  if (!isReadable('listDeliveries')) return undefined;
  const { count, quiet } = await client.listDeliveries(undefined, { signal });
  return count === 0 && !quiet;
};

/** Open problems from the server's health report, and facts about the server. */
export const Health = () => {
  const { value, error, reload } = healthStatus.value;
  const hasNoDestinations = useResource(readHasNoDestinations).value === true;
  const best = hasNoDestinations ? 'warning' : 'fine';
  const kind = value && (value.problems[0] ? toTone(value.problems[0].severity) : best);
  return (
    <Panel title={words.health} kind={`health ${kind ? `is-${kind}` : ''}`}>
      {value && <Verdict {...value} hasNoDestinations={hasNoDestinations} />}
      {!value && !error && <Skeleton lines={2} />}
      {!value && error && isMounted('getStatus') && <Failure error={error} onRetry={reload} />}
      {!isMounted('getStatus') && <p>{words.nothing}</p>}
      <Facts />
    </Panel>
  );
};

const Verdict = ({ problems, hasNoDestinations }: HealthStatus & { hasNoDestinations: boolean }) => {
  const worst = problems[0];
  const hasAcknowledged = (openIncidents.value.value?.acknowledgedTotal ?? 0) > 0;
  const [calm, hint] = hasAcknowledged
    ? [words.acknowledged, words.acknowledgedHint]
    : [words.healthy, words.healthyHint];
  const best = hasNoDestinations ? 'warning' : 'check';
  return (
    <div class="verdict" role="status">
      <Icon name={worst ? toTone(worst.severity) : best} />
      <div>
        {worst && <p class="strong">{words.attention(problems.length)}</p>}
        {!worst && !hasNoDestinations && (
          <>
            <p class="strong">{calm}</p>
            <p class="hint">{hint}</p>
          </>
        )}
        <ul>
          {problems.map((problem) => (
            <li key={problem.text} class={`tone-${toTone(problem.severity)}`}>
              <Problem {...problem} />
            </li>
          ))}
        </ul>
        {hasNoDestinations && <NoDestinations />}
      </div>
    </div>
  );
};

/** Warning that nobody is notified, with a link to add a destination. */
const NoDestinations = () => (
  <>
    <p class="strong">{words.noDestinations}</p>
    <p class="hint">
      {words.noDestinationsHint}{' '}
      {isAllowed('putDestination') && (
        <a href={toHash('/settings/destinations', { new: '1' })}>{words.addDestination}</a>
      )}
    </p>
  </>
);

/** Returns the mounted screen with details of a problem. Undefined if there is none. */
const findPlace = (area: HealthStatus['problems'][number]['area']): string | undefined => {
  if (area === 'incidents') return isMounted('listIncidents') ? '#/incidents' : toHash('/alerts', { status: 'firing' });
  if (area === 'deliveries') return isMounted('listDeliveries') ? '#/notifications' : undefined;
  return area === 'host' && isMounted('listWatches') ? '#/watches' : undefined;
};

const Problem = ({ area, severity, text: said }: HealthStatus['problems'][number]) => {
  const place = findPlace(area);
  return (
    <>
      <Icon name={toTone(severity)} />
      <span class="unseen">{text.alerts.severities[severity]}: </span>
      {place ? <a href={place}>{said}</a> : <span>{said}</span>}
    </>
  );
};

/** Reads facts that rarely change, initially and after a lost connection. */
const readFacts = async (signal: AbortSignal) => {
  const [server, info] = await Promise.all([
    isReadable('getServerHealth') ? client.getServerHealth(undefined, { signal }) : undefined,
    isReadable('getInfo') ? client.getInfo(undefined, { signal }) : undefined,
  ]);
  return { server, info, readAt: Date.now() };
};

type Readings = Awaited<ReturnType<typeof readFacts>>;

const Facts = () => {
  const { value, error } = useResource(readFacts, { topic: 'status', apply: (_, before) => before });
  if (error?.problem === 'shape') return <p>{error.message}</p>;
  return (
    <dl class="facts">
      {toFacts(value).map(([name, fact]) => (
        <div key={name} class={name === words.os ? 'wide' : ''}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
};

/** Returns the known facts. While loading, returns only their names. */
const toFacts = ({ server, info, readAt = 0 }: Partial<Readings> = {}): [name: string, fact: string][] => {
  const passed = (now() - readAt) / 1000;
  const { value: health } = healthStatus.value;
  const booted = health && Date.parse(health.bootedAt);
  return [
    ...(isReadable('getServerHealth') ? ([[words.machine, server?.hostname]] as const) : []),
    ...(isReadable('getInfo') ? ([[words.os, info?.os]] as const) : []),
    ...(isReadable('getStatus')
      ? ([[words.up, booted === undefined ? undefined : toDuration((now() - booted) / 1000)]] as const)
      : []),
    ...(isReadable('getServerHealth')
      ? ([
          [words.version, server && `signalbox ${server.version}`],
          [words.serverUp, server && toDuration(toSeconds(server.uptime) + passed)],
        ] as const)
      : []),
  ].map(([name, fact]) => [name, fact ?? '…']);
};
