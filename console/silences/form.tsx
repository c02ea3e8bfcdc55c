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
import { Area, Choice, exact, Field } from '../ui/field.tsx';
import { ScheduleFields } from '../ui/schedule-fields.tsx';
import { severityOptions } from '../ui/severity.tsx';
import { notify } from '../ui/toast.tsx';
import { type SilenceDraft, silenceModes, toMatch, toSilenceBody } from './draft.ts';

const words = text.silences;

/** Incidents that the preview names. */
const mostNamed = 3;

interface Props {
  draft: SilenceDraft;
  /** The silence that is changed; a new one is made without it. */
  before?: Silence;
  incidents: ActiveIncidents;
  onSaved: () => void;
  onClose: () => void;
}

type PartProps = DraftProps<SilenceDraft>;

/** The form of a silence, over the list. */
export const SilenceForm = ({ draft: first, before: present, incidents, onSaved, onClose }: Props) => {
  const before = useSeen(present);
  const { draft, set, submission } = useDraft(first, async (filled) => {
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
      <Matching draft={draft} set={set} />
      {incidents && <Preview draft={draft} incidents={incidents} />}
      <Times draft={draft} set={set} />
      <Field label={words.comment} value={draft.comment} autocomplete="off" onValue={(comment) => set({ comment })} />
    </FormDialog>
  );
};

/** What it silences. */
const Matching = ({ draft, set }: PartProps) => (
  <>
    <p class="hint">{words.matchHint}</p>
    <div class="beside">
      <TextField label={words.source} value={draft.source} onValue={(source) => set({ source })} />
      <TextField label={words.hostname} value={draft.hostname} onValue={(hostname) => set({ hostname })} />
    </div>
    <TextField label={words.text} value={draft.text} onValue={(pattern) => set({ text: pattern })} />
    <div class="beside">
      <Choice
        label={words.levels}
        value={draft.level}
        options={[
          ['', words.anyLevel],
          ...severityOptions,
          ...(draft.level === '' || severityOptions.some(([each]) => each === draft.level)
            ? []
            : [[draft.level, draft.level] as [string, string]]),
        ]}
        onValue={(level) => set({ level })}
      />
      <Area
        label={words.labels}
        hint={words.labelsHint}
        value={draft.labels}
        lines={2}
        onValue={(labels) => set({ labels })}
      />
    </div>
  </>
);

const TextField = (props: { label: string; value: string; onValue: (value: string) => void }) => (
  <Field {...props} {...exact} />
);

/** Characters of a title in the preview. */
const mostOfTitle = 60;

/** Which open incidents it would cover. */
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

/** When it holds. */
const Times = ({ draft, set }: PartProps) => (
  <>
    <Segments
      label={words.times}
      value={draft.mode}
      options={silenceModes.map((mode) => [mode, words.modes[mode]] as const)}
      onValue={(mode) => set({ mode })}
    />
    {draft.mode === 'for' && (
      <Choice
        label={words.length}
        value={draft.length}
        options={Object.entries(words.lengths)}
        onValue={(length) => set({ length })}
      />
    )}
    {draft.mode === 'until' && (
      <div class="beside">
        <End draft={draft} set={set} />
        <Field
          label={words.start}
          type="datetime-local"
          hint={words.startHint}
          value={draft.start}
          onValue={(start) => set({ start })}
        />
      </div>
    )}
    <ScheduleFields draft={draft} set={set} />
    {(draft.mode === 'weekly' || draft.mode === 'cron') && <Windows draft={draft} set={set} />}
  </>
);

const End = ({ draft, set, hint }: PartProps & { hint?: string }) => (
  <Field label={words.endsAt} type="datetime-local" hint={hint} value={draft.end} onValue={(end) => set({ end })} />
);

/** How long each window is, and until when there are some. */
const Windows = ({ draft, set }: PartProps) => (
  <>
    <div class="beside">
      <Field label={words.minutes} inputMode="numeric" value={draft.minutes} onValue={(minutes) => set({ minutes })} />
      <TextField label={words.timeZone} value={draft.timeZone} onValue={(timeZone) => set({ timeZone })} />
    </div>
    <End draft={draft} set={set} hint={words.neverHint} />
  </>
);
