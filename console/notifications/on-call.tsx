import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { DutyOverride, OnCall } from 'signalbox/client';
import { toPerson } from '../../src/kit/people.ts';
import { client, userClient } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toMinute } from '../format.ts';
import { toIfMatch } from '../live/conditional.ts';
import { type Resource, useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { isAllowed, isReadable } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { OverrideDialog } from '../ui/override-dialog.tsx';
import { Failure, Panel } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';

const words = text.notifications;

/**
 * Maximum milliseconds between reloads. Because handovers cause no events, the list also reloads at the next handover.
 */
const longestWait = 3_600_000;

interface OnCallState {
  rotations: readonly OnCall[];
  overrides: readonly DutyOverride[];
}

/** Rotations and overrides. */
export const useOnCall = (): Resource<OnCallState> => {
  const load = async (signal: AbortSignal): Promise<OnCallState> => {
    if (!isReadable('getOnCall')) return { rotations: [], overrides: [] };
    const [{ data: rotations }, overrides] = await Promise.all([
      client.getOnCall({}, { signal }),
      isReadable('listDutyOverrides') ? client.listDutyOverrides({}, { signal }) : undefined,
    ]);
    return { rotations, overrides: overrides?.data ?? [] };
  };
  const resource = useResource(load, { topic: 'oncall' });
  const ends = (resource.value?.rotations ?? []).flatMap(({ endsAt }) =>
    endsAt ? [untilTime(Date.parse(endsAt))] : [],
  );
  const next = Math.max(1000, Math.min(longestWait, ...ends));
  useEffect(() => {
    const timer = setTimeout(resource.reload, next);
    return () => clearTimeout(timer);
  }, [resource.value, resource.error]);
  return resource;
};

/** Rotations: who is on call, who is next, and overrides. */
export const OnCallPanels = ({ onCall: { value, error, reload } }: { onCall: Resource<OnCallState> }) => {
  if (error && !value) return <Failure error={error} onRetry={reload} />;
  if (!value || value.rotations.length === 0) return null;
  const members = [...new Set(value.rotations.flatMap((each) => each.members))];
  return (
    <div class="destinations">
      {value.rotations.map((each) => (
        <RotationPanel
          key={each.rotation}
          onCall={each}
          members={members}
          overrides={value.overrides.filter(({ rotation }) => rotation === each.rotation)}
          onChanged={reload}
        />
      ))}
    </div>
  );
};

interface RotationProps {
  onCall: OnCall;
  /** Members of all rotations. */
  members: readonly string[];
  overrides: readonly DutyOverride[];
  onChanged: () => void;
}

const RotationPanel = ({ onCall, members, overrides, onChanged }: RotationProps) => {
  const { rotation, member, endsAt, next } = onCall;
  const isAsking = useSignal(false);
  const lasting = overrides.filter((each) => untilTime(Date.parse(each.endsAt)) > 0);
  return (
    <Panel title={words.onCall(rotation)} kind="on-call">
      <p class="on-call-now">
        <Icon name="user" />
        <span class="strong">
          <bdi>{member ?? words.nobody}</bdi>
        </span>
        <span class="hint">{endsAt ? words.untilTime(toMinute(Date.parse(endsAt))) : words.always}</span>
      </p>
      {next && (
        <p class="hint">
          <bdi>{words.follows(next.member, toMinute(Date.parse(next.startsAt)))}</bdi>
        </p>
      )}
      {lasting.map((override) => (
        <Override key={override.id} override={override} onChanged={onChanged} />
      ))}
      {isAllowed('createDutyOverride') && (
        <div class="actions">
          <IconButton
            icon="move"
            label={words.changeOnCall}
            name={words.changeOnCallOf(rotation)}
            onClick={() => {
              isAsking.value = true;
            }}
          />
        </div>
      )}
      {isAsking.value && (
        <OverrideDialog
          onCall={onCall}
          members={members}
          onSaved={onChanged}
          onClose={() => {
            isAsking.value = false;
          }}
        />
      )}
    </Panel>
  );
};

const Override = ({ override, onChanged }: { override: DutyOverride; onChanged: () => void }) => {
  const { id, member, startsAt, endsAt, covered, createdBy, comment } = override;
  const { isRunning, run } = useRun(async () => {
    await userClient.endDutyOverride({ id }, toIfMatch(override)).finally(onChanged);
    notify(words.overrideEnded);
  });
  const [from, until] = [toMinute(Date.parse(startsAt)), toMinute(Date.parse(endsAt))];
  return (
    <div class="note override">
      <span>
        <bdi>{words.override(member, from, until, toPerson(createdBy))}</bdi>
        {comment && (
          <>
            {': '}
            <LongText value={comment} most={200} />
          </>
        )}
        {covered && <span class="hint"> {words.covered}</span>}
      </span>
      {isAllowed('endDutyOverride') && (
        <IconButton
          icon="close"
          label={words.endOverride}
          name={words.endOverrideOf(member)}
          isDisabled={isRunning}
          onClick={run}
        />
      )}
    </div>
  );
};
