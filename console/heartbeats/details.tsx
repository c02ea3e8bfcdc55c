import { useSignal } from '@preact/signals';
import type { Heartbeat, HeartbeatRun, Incident } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toCount, toFull } from '../format.ts';
import { type ActiveIncidents, findIncident, toIncidentHash } from '../live/active-incidents.ts';
import { toIfMatch } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { useSubmission } from '../live/submission.ts';
import { goTo, place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { text } from '../strings/index.ts';
import { AvailabilityPart } from '../ui/availability.tsx';
import { CopyLink } from '../ui/copy.tsx';
import { Dialog, FormDialog } from '../ui/dialog.tsx';
import { type Fact, Facts, toDoneBy } from '../ui/facts.tsx';
import { HeartbeatChip } from '../ui/heartbeat-chip.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { ThingLinks } from '../ui/thing-links.tsx';
import { notify } from '../ui/toast.tsx';
import { toHeartbeatDraft } from './draft.ts';
import { describeExpected, describeLast, describeLimits } from './expected.ts';
import { HeartbeatForm } from './form.tsx';
import { RunList } from './runs.tsx';
import { Badge, HeartbeatUsage } from './usage.tsx';

/** Minimum milliseconds between requests while pings arrive. */
const calm = 300;

interface Props {
  name: string;
  incidents: ActiveIncidents;
  onChanged: () => void;
}

interface Found {
  heartbeat: Heartbeat;
  runs: readonly HeartbeatRun[];
}

/** Dialog for a heartbeat. With `edit` in the URL, shows the edit form. */
export const HeartbeatDialog = ({ name, incidents, onChanged }: Props) => {
  const load = async (signal: AbortSignal): Promise<Found> => {
    const [heartbeat, { data: runs }] = await Promise.all([
      client.getHeartbeat({ name }, { signal }),
      client.listHeartbeatRuns({ name }, { signal }),
    ]);
    return { heartbeat, runs };
  };
  const { value, error, reload } = useResource(load, { key: name, topic: 'heartbeats', calm, isKept: true });
  const changed = () => {
    reload();
    onChanged();
  };
  if (place.value.params['edit'] && value && !value.heartbeat.isConfigured) {
    const close = () => setParams({ edit: undefined });
    return (
      <HeartbeatForm
        draft={toHeartbeatDraft(value.heartbeat)}
        before={value.heartbeat}
        onSaved={() => {
          changed();
          close();
        }}
        onClose={close}
      />
    );
  }
  return (
    <Dialog
      title={words.details(name)}
      kind="drawer"
      onClose={() => goTo('/heartbeats', { q: place.value.params['q'] })}
    >
      {value ? (
        <Details found={value} incident={findIncident(incidents, `heartbeat/${name}`)} onChanged={changed} />
      ) : (
        <Unloaded error={error} reload={reload} words={words} lines={10} />
      )}
    </Dialog>
  );
};

interface DetailsProps {
  found: Found;
  incident: Incident | undefined;
  onChanged: () => void;
}

const Details = ({ found: { heartbeat, runs }, incident, onChanged }: DetailsProps) => {
  const { state, description, isConfigured } = heartbeat;
  const [last, next] = describeLast(heartbeat);
  return (
    <article class="alert">
      <p class="alert-head">
        <HeartbeatChip state={state} />
        <span>{last}</span>
        <span class="hint">{next}</span>
        {incident && <a href={toIncidentHash(incident)}>{text.incidents.named(toCount(incident.number))}</a>}
      </p>
      {description && (
        <p>
          <LongText value={description} />
        </p>
      )}
      {isConfigured && <p class="hint">{text.configHint}</p>}
      <Actions heartbeat={heartbeat} onChanged={onChanged} />
      <Facts facts={toFacts(heartbeat)} />
      <HeartbeatUsage heartbeat={heartbeat} />
      <Badge heartbeat={heartbeat} />
      {isAllowed('getHeartbeatAvailability') && (
        <AvailabilityPart
          name={heartbeat.name}
          load={(signal) => client.getHeartbeatAvailability({ name: heartbeat.name }, { signal })}
        />
      )}
      <h3>{runs.length > 0 ? words.runsOf(toCount(runs.length)) : words.runs}</h3>
      <RunList runs={runs} />
    </article>
  );
};

const toFacts = (heartbeat: Heartbeat): Fact[] => {
  const { level, tags, dependsOn, updatedBy, updatedAt, lastSuccessAt } = heartbeat;
  return [
    [words.facts.expected, `${describeExpected(heartbeat)}; ${describeLimits(heartbeat)}`],
    [words.facts.success, lastSuccessAt && toFull(new Date(lastSuccessAt))],
    [words.facts.level, text.alerts.severities[level]],
    [words.facts.tags, tags.length > 0 && tags.join(', ')],
    [text.dependsOn, dependsOn.length > 0 && <ThingLinks names={dependsOn} />],
    [text.changed, toDoneBy(updatedBy, updatedAt)],
  ];
};

const Actions = ({ heartbeat, onChanged }: Pick<DetailsProps, 'onChanged'> & { heartbeat: Heartbeat }) => {
  const { name, state, isConfigured } = heartbeat;
  const isAsking = useSignal(false);
  const isPaused = state === 'paused';
  const pause = useRun(async () => {
    await (isPaused ? userClient.resumeHeartbeat({ name }) : userClient.pauseHeartbeat({ name })).finally(onChanged);
    notify((isPaused ? words.hasResumed : words.hasPaused)(name));
  });
  const canChange = !isConfigured && isAllowed('putHeartbeat');
  return (
    <div class="actions">
      {canChange && (
        <IconButton icon="edit" label={words.edit} kind="primary" onClick={() => setParams({ edit: '1' })} />
      )}
      {isAllowed('pauseHeartbeat') && (
        <IconButton
          icon={isPaused ? 'play' : 'pause'}
          label={isPaused ? words.resume : words.pause}
          isDisabled={pause.isRunning}
          onClick={pause.run}
        />
      )}
      {canChange && (
        <IconButton
          icon="trash"
          label={words.remove}
          onClick={() => {
            isAsking.value = true;
          }}
        />
      )}
      <CopyLink path={`/heartbeats/${encodeURIComponent(name)}`} />
      {isAsking.value && (
        <RemoveDialog
          heartbeat={heartbeat}
          onRemoved={onChanged}
          onClose={() => {
            isAsking.value = false;
          }}
        />
      )}
    </div>
  );
};

interface RemoveProps {
  heartbeat: Heartbeat;
  onRemoved: () => void;
  onClose: () => void;
}

/** Asks for confirmation of a deletion. Deleting also removes the runs and the ping address. */
const RemoveDialog = ({ heartbeat, onRemoved, onClose }: RemoveProps) => {
  const { name } = heartbeat;
  const submission = useSubmission(async () => {
    await userClient.deleteHeartbeat({ name }, toIfMatch(heartbeat));
    goTo('/heartbeats');
    onRemoved();
    notify(words.removed(name));
  });
  return (
    <FormDialog title={words.removeTitle(name)} action={words.removeAction} onClose={onClose} {...submission}>
      <p>{words.removeHint}</p>
    </FormDialog>
  );
};
