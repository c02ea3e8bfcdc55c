import type { Incident, Silence } from 'signalbox/client';
import { userClient } from '../api.ts';
import { shorten, toCount } from '../format.ts';
import type { ActiveIncidents } from '../live/active-incidents.ts';
import { toIfMatch, useSeen } from '../live/conditional.ts';
import { describeWhen, silenceMatches } from '../live/silences.ts';
import { type DraftProps, useDraft } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { Segments } from '../ui/chip.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, CheckBox, Choice, exact, Field } from '../ui/field.tsx';
import { ScheduleFields } from '../ui/schedule-fields.tsx';
import { severityOptions } from '../ui/severity.tsx';
import { notify } from '../ui/toast.tsx';
import { type SilenceDraft, silenceModes, toMatch, toSilenceBody } from './draft.ts';

const words = text.silences;

/** Maximum number of incidents named in the preview. */
const mostNamed = 3;

interface Props {
  draft: SilenceDraft;
  /** Silence being edited. Undefined for a new one. */
  before?: Silence;
  incidents: ActiveIncidents;
  onSaved: () => void;
  onClose: () => void;
}

type PartProps = DraftProps<SilenceDraft>;

export const SilenceForm = ({ draft: first, before: present, incidents, onSaved, onClose }: Props) => {
  const before = useSeen(present);
  const { form, submission } = useDraft(first, async (filled) => {
    const body = toSilenceBody(filled, before);
    const saved = before
      ? await userClient.replaceSilence({ id: before.id, ...body }, toIfMatch(before))
      : await userClient.createSilence(body);
    notify(words.saved(describeWhen(saved)));
    onSaved();
  });
  return (
    <FormDialog
      title={before ? words.editTitle : words.newTitle}
      action={before ? words.saveAction : words.createAction}
      onClose={onClose}
      {...submission}
    >
      <Matching {...form} />
      {incidents && <Preview draft={form.draft} incidents={incidents} />}
      <Times {...form} />
      <Field label={words.comment} autocomplete="off" {...form.bind('comment')} />
      <CheckBox
        label={words.maintenance}
        hint={words.maintenanceHint}
        checked={form.draft.maintenance}
        onValue={(maintenance) => form.set({ maintenance })}
      />
    </FormDialog>
  );
};

/** Matcher fields. */
const Matching = ({ draft, bind }: PartProps) => (
  <>
    <p class="hint">{words.matchHint}</p>
    <div class="beside">
      <Field {...exact} label={words.source} {...bind('source')} />
      <Field {...exact} label={words.hostname} {...bind('hostname')} />
    </div>
    <Field {...exact} label={words.text} {...bind('text')} />
    <div class="beside">
      <Choice
        label={words.levels}
        options={[
          ['', words.anyLevel],
          ...severityOptions,
          ...(draft.level === '' || severityOptions.some(([each]) => each === draft.level)
            ? []
            : [[draft.level, draft.level] as [string, string]]),
        ]}
        {...bind('level')}
      />
      <Area label={words.labels} hint={words.labelsHint} lines={2} {...bind('labels')} />
    </div>
  </>
);

/** Maximum number of characters of a title in the preview. */
const mostOfTitle = 60;

/** Preview of the open incidents that match. */
const Preview = ({ draft, incidents }: { draft: SilenceDraft; incidents: readonly Incident[] }) => {
  const covered = findCovered(draft, incidents);
  if (!covered) return null;
  const named = covered.slice(0, mostNamed).map(({ number, title }) => `#${number} ${shorten(title, mostOfTitle)}`);
  const rest = covered.length > mostNamed ? '…' : '';
  return (
    <p class="note" role="status">
      {covered.length === 0 ? (
        words.previewNone
      ) : (
        <bdi>{`${words.preview(toCount(covered.length))}: ${named.join(', ')}${rest}`}</bdi>
      )}
    </p>
  );
};

const findCovered = (draft: SilenceDraft, incidents: readonly Incident[]): Incident[] | undefined => {
  try {
    const match = toMatch(draft);
    return incidents.filter((incident) => silenceMatches(match, incident));
  } catch {
    return undefined;
  }
};

/** Schedule fields. */
const Times = ({ draft, set, bind }: PartProps) => (
  <>
    <Segments
      label={words.times}
      value={draft.mode}
      options={silenceModes.map((mode) => [mode, words.modes[mode]] as const)}
      onValue={(mode) => set({ mode })}
    />
    {draft.mode === 'for' && (
      <Choice label={words.length} options={Object.entries(words.lengths)} {...bind('length')} />
    )}
    {draft.mode === 'until' && (
      <div class="beside">
        <End bind={bind} />
        <Field label={words.start} type="datetime-local" hint={words.startHint} {...bind('start')} />
      </div>
    )}
    <ScheduleFields draft={draft} set={set} bind={bind} />
    {(draft.mode === 'weekly' || draft.mode === 'cron') && <Windows bind={bind} />}
  </>
);

const End = ({ bind, hint }: Pick<PartProps, 'bind'> & { hint?: string }) => (
  <Field label={words.endsAt} type="datetime-local" hint={hint} {...bind('end')} />
);

/** Fields for the length of a window and the end of the schedule. */
const Windows = ({ bind }: Pick<PartProps, 'bind'>) => (
  <>
    <div class="beside">
      <Field label={words.minutes} inputMode="numeric" {...bind('minutes')} />
      <Field {...exact} label={words.timeZone} {...bind('timeZone')} />
    </div>
    <End bind={bind} hint={words.neverHint} />
  </>
);
