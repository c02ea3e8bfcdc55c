import type { Incident, Silence } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import type { ActiveIncidents } from '../live/active-incidents.ts';
import { toIfMatch } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { describeMatch, describeWhen } from '../live/silences.ts';
import { goTo, place, setParams, toHash } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { CopyLink } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { type Fact, Facts, toDoneBy } from '../ui/facts.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { SeverityChip } from '../ui/severity.tsx';
import { notify } from '../ui/toast.tsx';
import { toSilenceDraft } from './draft.ts';
import { SilenceForm } from './form.tsx';
import { SilenceChip } from './rows.tsx';

const words = text.silences;

/** Maximum number of listed incidents. */
const listed = 20;

interface Props {
  id: string;
  incidents: ActiveIncidents;
  onChanged: () => void;
}

/** Dialog for a silence. With `edit` in the URL, shows the edit form. */
export const SilenceDialog = ({ id, incidents, onChanged }: Props) => {
  const load = (signal: AbortSignal) => client.getSilence({ id }, { signal });
  const { value, error, reload } = useResource(load, { key: id, topic: 'silences', calm: 200, isKept: true });
  const { edit, ...params } = place.value.params;
  const changed = () => {
    reload();
    onChanged();
  };
  if (edit && value?.match) {
    const stopEditing = () => setParams({ edit: undefined });
    return (
      <SilenceForm
        key={id}
        draft={toSilenceDraft(value)}
        {...(value.state === 'expired' ? {} : { before: value })}
        incidents={incidents}
        onSaved={() => {
          changed();
          goTo('/silences', params);
        }}
        onClose={stopEditing}
      />
    );
  }
  return (
    <Dialog title={words.details} kind="drawer" onClose={() => goTo('/silences', params)}>
      {value ? (
        <Details silence={value} incidents={incidents} onChanged={changed} />
      ) : (
        <Unloaded error={error} reload={reload} words={words} lines={8} />
      )}
    </Dialog>
  );
};

type PartProps = Pick<Props, 'incidents' | 'onChanged'> & { silence: Silence };

const Details = ({ silence, incidents, onChanged }: PartProps) => {
  const { id, state, comment, maintenance, createdBy, createdAt, updatedBy, updatedAt, match } = silence;
  const facts: Fact[] = [
    [words.when, describeWhen(silence)],
    [words.facts.created, toDoneBy(createdBy, createdAt)],
    [text.changed, updatedAt !== createdAt && toDoneBy(updatedBy, updatedAt)],
    [words.facts.id, id],
  ];
  return (
    <article class="alert">
      <p class="alert-head">
        <SilenceChip silence={silence} />
        {maintenance && <Chip tone="quiet">{words.isMaintenance}</Chip>}
      </p>
      <p class="message">
        <LongText value={describeMatch(silence)} />
      </p>
      {comment && (
        <p class="note">
          <LongText value={comment} />
        </p>
      )}
      {!match && <p class="hint">{words.fromAlertmanager}</p>}
      <Actions silence={silence} onChanged={onChanged} />
      <Facts facts={facts} />
      {state === 'active' && incidents && (
        <CoveredIncidents incidents={incidents.filter(({ silencedBy }) => silencedBy.includes(id))} />
      )}
    </article>
  );
};

const CoveredIncidents = ({ incidents }: { incidents: readonly Incident[] }) => {
  if (incidents.length === 0) return <p class="hint">{words.coversNone}</p>;
  return (
    <>
      <h3>{words.coversTitle}</h3>
      <ol class="context covered">
        {incidents.slice(0, listed).map(({ id, number, level, title }) => (
          <li key={id}>
            <SeverityChip severity={level} />
            <a class="one-line" href={toHash(`/incidents/${number}`)}>
              <span class="incident-number">{text.incidents.number(number)}</span> <bdi>{title}</bdi>
            </a>
          </li>
        ))}
      </ol>
    </>
  );
};

const Actions = ({ silence, onChanged }: Pick<PartProps, 'silence' | 'onChanged'>) => {
  const { id, state, match } = silence;
  const { isRunning, run: end } = useRun(async () => {
    await userClient.endSilence({ id }, toIfMatch(silence)).finally(onChanged);
    notify(words.hasEnded);
  });
  return (
    <div class="actions">
      {isAllowed('endSilence') && state !== 'expired' && (
        <IconButton icon="close" label={words.end} kind="primary" isDisabled={isRunning} onClick={end} />
      )}
      {isAllowed('replaceSilence') && match && (
        <IconButton
          icon={state === 'expired' ? 'repeat' : 'edit'}
          label={state === 'expired' ? words.again : words.edit}
          onClick={() => setParams({ edit: '1' })}
        />
      )}
      <CopyLink path={`/silences/${id}`} />
    </div>
  );
};
