import { useEffect } from 'preact/hooks';
import type { IncidentAlert, IncidentDetails, IncidentEvent } from 'signalbox/client';
import { toPerson, toTargetName } from '../../src/kit/people.ts';
import { client } from '../api.ts';
import { toCount, toFull, toTime } from '../format.ts';
import { useEvents, useResource } from '../live/resource.ts';
import { goTo, place, toHash } from '../router.ts';
import { isAllowed, isMounted, isReadable } from '../routes.ts';
import { session } from '../session.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { CopyLink } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { type Fact, Facts } from '../ui/facts.tsx';
import { HostName } from '../ui/host-name.tsx';
import { IconButton, IconLink } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { SeverityChip } from '../ui/severity.tsx';
import { SilenceLink } from '../ui/silence-link.tsx';
import { Ago, At } from '../ui/time.tsx';
import { acknowledge, changes, createTask, question, reopen, resolve, takeOver } from './actions.ts';
import { AlertBars } from './alert-bars.tsx';
import { Escalation } from './escalation.tsx';
import { CauseLink, IncidentChip, LevelChip } from './looks.tsx';
import { Notifications } from './notifications.tsx';
import { SilencesOf } from './silences.tsx';
import { SnapshotOf } from './snapshot.tsx';

const words = text.incidents;
/** Maximum number of alerts listed. The histogram counts more. */
const listed = 10;
const counted = 1000;
const calm = 500;

/** Author of events that are not caused by a person. */
const ownAuthor = 'signalbox';

/** Outcome of a notification that was delivered. */
const delivered = 'delivered';

/** Dialog with all details of an incident. */
export const IncidentDialog = ({ id }: { id: string }) => (
  <Dialog title={words.detailsTitle} kind="drawer" onClose={() => goTo('/incidents', place.value.params)}>
    <Loaded key={id} id={id} />
  </Dialog>
);

const Loaded = ({ id }: { id: string }) => {
  const load = (signal: AbortSignal) => client.getIncident({ id }, { signal });
  const { value, error, reload } = useResource(load, { topic: 'incidents', calm });
  useEffect(reload, [changes.value]);
  useEvents('silences', reload);
  if (value) return <Details incident={value} />;
  return <Unloaded error={error} reload={reload} words={words} lines={10} />;
};

const Details = ({ incident }: { incident: IncidentDetails }) => {
  const { number, title, state, acknowledgedBy, acknowledgedUntil, acknowledgedComment, firstAt, labels, timeline } =
    incident;
  const { details } = incident;
  return (
    <article class="incident alert">
      <p class="alert-head">
        <span class="incident-number">{words.number(number)}</span>
        <LevelChip incident={incident} />
        <IncidentChip incident={incident} />
        {incident.silencedBy.length > 0 && (
          <Chip tone="quiet" icon="silences">
            {text.silences.silenced}
          </Chip>
        )}
        {state === 'acknowledged' && acknowledgedBy && acknowledgedUntil && (
          <span>
            <bdi>{words.acknowledgedBy(toPerson(acknowledgedBy))}</bdi>
          </span>
        )}
        <span class="hint">
          <Ago time={firstAt} />
        </span>
      </p>
      <p class="message">
        <LongText value={title} />
      </p>
      {details && (
        <p class="details">
          <LongText value={details} />
        </p>
      )}
      {state === 'acknowledged' && acknowledgedComment && (
        <p class="note">
          <LongText value={acknowledgedComment} />
        </p>
      )}
      {incident.cause && (
        <p class="note">
          <CauseLink incident={incident} />
          {state !== 'resolved' && <> · {words.causeHint}</>}
        </p>
      )}
      <SilencesOf incident={incident} />
      <Actions incident={incident} />
      <Facts facts={toFacts(incident)} />
      {labels && Object.keys(labels).length > 0 && (
        <>
          <h3>{words.labels}</h3>
          <Facts facts={Object.entries(labels)} />
        </>
      )}
      <SnapshotOf incident={incident} />
      <Escalation incident={incident} />
      <Notifications incident={incident} />
      <h3>{words.timeline}</h3>
      <ol class="timeline" reversed>
        {timeline.toReversed().map((event, index) => (
          <TimelineEvent key={timeline.length - index} event={event} />
        ))}
      </ol>
      <Alerts incident={incident} />
    </article>
  );
};

const Actions = ({ incident }: { incident: IncidentDetails }) => {
  const { state, task, link, id, source, hostname, title, acknowledgedBy } = incident;
  const isOver = state === 'resolved';
  const ask = (kind: 'snooze' | 'comment' | 'responder' | 'announce') => () => {
    question.value = { kind, incidents: [incident] };
  };
  return (
    <div class="actions">
      {state === 'open' && (
        <IconButton icon="user" label={words.acknowledge} kind="primary" onClick={() => void acknowledge([incident])} />
      )}
      {state === 'acknowledged' && acknowledgedBy !== session.value?.name && (
        <IconButton icon="user" label={words.takeOver} onClick={() => void takeOver(incident)} />
      )}
      {!isOver && (
        <>
          <IconButton icon="clock" label={words.snooze} onClick={ask('snooze')} />
          <IconButton icon="check" label={words.resolve} onClick={() => void resolve([incident])} />
        </>
      )}
      {state !== 'open' && <IconButton icon="repeat" label={words.reopen} onClick={() => void reopen(incident)} />}
      {!isOver && isMounted('listPeople') && (
        <IconButton icon="user" label={words.responders.ask} onClick={ask('responder')} />
      )}
      <IconButton icon="comment" label={words.comment} onClick={ask('comment')} />
      {isAllowed('announceIncident') && isMounted('listStatusPages') && (
        <IconButton icon="open" label={words.announce.ask} onClick={ask('announce')} />
      )}
      {task === null && isAllowed('createIncidentTask') && isMounted('listTasks') && (
        <IconButton icon="tasks" label={words.createTask} onClick={() => void createTask(incident)} />
      )}
      {task !== null && <IconLink icon="tasks" label={words.openTask(task)} href={toHash(`/tasks/${task}`)} />}
      {link && /^https?:/i.test(link) && <IconLink icon="open" label={words.link} href={link} isExternal />}
      <OriginLink incident={incident} />
      {!isOver && <SilenceLink source={source} hostname={hostname} message={title} />}
      <HostLink incident={incident} />
      <CopyLink path={`/incidents/${id}`} />
    </div>
  );
};

/** Link to the watch or heartbeat that raised the alert. */
const OriginLink = ({ incident: { source } }: { incident: IncidentDetails }) => {
  const [, kind, name] = /^(watch|heartbeat)\/([\w.-]+)$/.exec(source) ?? [];
  const isWatch = kind === 'watch';
  if (kind === undefined || !isMounted(isWatch ? 'listWatches' : 'listHeartbeats')) return null;
  return (
    <IconLink
      icon={isWatch ? 'watches' : 'heartbeats'}
      label={words.origin(kind)}
      href={toHash(`/${isWatch ? 'watches' : 'heartbeats'}/${name}`)}
    />
  );
};

/** Link to the processes. Shown if the incident is about the machine that runs the server. */
const HostLink = ({ incident: { hostname } }: { incident: IncidentDetails }) => {
  const load = async (signal: AbortSignal) =>
    isReadable('getServerHealth') ? client.getServerHealth(undefined, { signal }) : undefined;
  const { value } = useResource(load);
  if (!isMounted('listProcesses') || hostname === '' || value?.hostname.toLowerCase() !== hostname.toLowerCase()) {
    return null;
  }
  return <IconLink icon="processes" label={words.processes} href="#/processes" />;
};

const toFacts = (incident: IncidentDetails): Fact[] => [
  [words.source, incident.source || null],
  [words.host, incident.hostname !== '' && <HostName hostname={incident.hostname} />],
  [words.responsible, incident.responsible.map((one) => toPerson(toTargetName(one))).join(', ') || null],
  [words.next, incident.escalation?.next?.targets.map(toTargetName).join(', ') || null],
  [words.responders.title, incident.responders.join(', ') || null],
  [words.count, toCount(incident.count)],
  [words.facts.first, toFull(new Date(incident.firstAt))],
  [words.facts.last, toFull(new Date(incident.lastAt))],
  [words.facts.highest, incident.highestLevel !== incident.level && text.alerts.severities[incident.highestLevel]],
  [words.facts.reopened, incident.reopened > 0 && words.times(toCount(incident.reopened))],
  [words.facts.key, incident.key],
  [words.facts.sender, incident.sender && toPerson(incident.sender)],
  [words.facts.id, incident.id],
];

const TimelineEvent = ({ event }: { event: IncidentEvent }) => {
  const { at, type, comment, alert, task, result } = event;
  const silence = findSilence(event);
  const isFailed = result !== null && result !== delivered;
  return (
    <li class={`event event-${type}`}>
      <At time={at} />
      <span>
        <span class="strong">{isFailed ? words.notNotified : words.events[type]}</span> {describe(event)}
        {alert && (
          <>
            {' · '}
            <a href={toHash(`/alerts/${alert}`)}>{words.theAlert}</a>
          </>
        )}
        {silence && (
          <>
            {' · '}
            <a href={toHash(`/silences/${silence}`)}>{words.theSilence}</a>
          </>
        )}
        {task !== null && (
          <>
            {' · '}
            <a href={toHash(`/tasks/${task}`)}>{words.task(task)}</a>
          </>
        )}
        {comment && (
          <span class="said">
            <LongText value={comment} />
          </span>
        )}
      </span>
    </li>
  );
};

/** Returns the id of the silence in a `silenced` event. */
const findSilence = ({ type, by }: IncidentEvent): string | undefined =>
  type === 'silenced' ? /^silence (\S+)/.exec(by ?? '')?.[1] : undefined;

/** Describes an event in words: `as Critical by anna until 8:00`. */
const describe = (event: IncidentEvent): string => {
  const { type, level, by, until, reason, destination, what, result, targets } = event;
  if (targets !== null) return describeAddress(event, targets);
  if (destination !== null) {
    const sent =
      what && type !== 'reminder' ? words.notifiedOf(destination, text.notifications.kinds[what]) : destination;
    return [sent, result !== delivered && result].filter(Boolean).join(' · ');
  }
  return [
    level &&
      type !== 'silenced' &&
      (type === 'opened' || type === 'reopened' ? words.at : words.to)(text.alerts.severities[level]),
    by && type !== 'silenced' ? words.by(toPerson(by)) : reason && words.reasons[reason],
    until && words.until(toTime(Date.parse(until))),
  ]
    .filter(Boolean)
    .join(' ');
};

/** Describes the people and destinations addressed by a step or a person: `anna, room · step 2 of ops`. */
const describeAddress = ({ by, policy, step, cause }: IncidentEvent, targets: readonly string[]): string => {
  const names = targets.map(toTargetName).join(', ') || words.escalation.nobody;
  const isOwn = by === null || by === ownAuthor;
  return [
    names,
    policy !== null && words.escalation.place(policy, `${step}`),
    !isOwn && words.by(toPerson(by)),
    cause !== null && cause !== 'step' && words.causes[cause],
  ]
    .filter(Boolean)
    .join(' · ');
};

const Alerts = ({ incident: { id, count } }: { incident: IncidentDetails }) => {
  const load = (signal: AbortSignal) => client.listIncidentAlerts({ id, limit: counted }, { signal });
  const { value, error, reload } = useResource(load, { key: `${count}`, calm });
  if (!value) return <Unloaded error={error} reload={reload} lines={4} />;
  return (
    <>
      {value.data.length > 1 && (
        <>
          <h3>{words.alertsOverTime}</h3>
          <AlertBars alerts={value.data} />
        </>
      )}
      <h3>{words.latestAlerts}</h3>
      <ol class="context">
        {value.data.slice(0, listed).map((alert) => (
          <AlertLine key={alert.seq} alert={alert} />
        ))}
      </ol>
    </>
  );
};

const AlertLine = ({ alert: { id, time, severity, status, message } }: { alert: IncidentAlert }) => (
  <li>
    <time dateTime={time ?? ''}>{time && toTime(new Date(time))}</time>
    <SeverityChip severity={severity} isQuiet={status === 'resolved'} />
    <a class="one-line" href={toHash(`/alerts/${id}`)}>
      <bdi>{message || text.alerts.noMessage}</bdi>
    </a>
  </li>
);
