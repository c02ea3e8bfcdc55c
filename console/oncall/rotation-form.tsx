import type { Rotation } from 'signalbox/client';
import { userClient } from '../api.ts';
import { putSeen, useSeen } from '../live/conditional.ts';
import { useDraft } from '../live/submission.ts';
import { onCallTexts as words } from '../strings/oncall.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { exact, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { notify } from '../ui/toast.tsx';

type Layer = Rotation['layers'][number];

/** Layer as typed. */
interface LayerDraft {
  people: string;
  every: string;
  at: string;
  hours: string;
  from: string;
  until: string;
}

const blank: LayerDraft = { people: '', every: '1 week', at: 'Mon 09:00', hours: '', from: '', until: '' };

interface Props {
  /** Rotation being edited. Undefined to create a rotation. */
  rotation: Rotation | undefined;
  onSaved: () => void;
  onClose: () => void;
}

/** Dialog to create a rotation of people, or to change its layers. */
export const RotationForm = ({ rotation: present, onSaved, onClose }: Props) => {
  const rotation = useSeen(present);
  const first = {
    name: rotation?.name ?? '',
    timeZone: rotation?.timeZone ?? '',
    holidays: rotation?.holidays.join(', ') ?? '',
    layers: rotation?.layers.map(toDraft) ?? [blank],
  };
  const { form, submission } = useDraft(first, async ({ name, timeZone, holidays, layers }) => {
    const zone = timeZone.trim();
    const free = splitList(holidays);
    const body = {
      rotation: name.trim(),
      layers: layers.map(toLayer),
      ...(zone !== '' && { timeZone: zone }),
      ...(free.length > 0 && { holidays: free }),
    };
    const put = (options: object) => userClient.putRotation(body, options).finally(onSaved);
    await putSeen(put, rotation, words.exists);
    notify(words.saved);
    onClose();
  });
  const { layers } = form.draft;
  const change = (index: number, changes: Partial<LayerDraft>): void =>
    form.set({ layers: layers.map((each, at) => (at === index ? { ...each, ...changes } : each)) });
  return (
    <FormDialog
      title={rotation ? words.title(rotation.name) : words.create}
      action={words.save}
      onClose={onClose}
      {...submission}
    >
      <div class="beside">
        <Field label={words.name} {...exact} disabled={rotation !== undefined} {...form.bind('name')} />
        <Field label={words.timeZone} hint={words.timeZoneHint} {...exact} {...form.bind('timeZone')} />
      </div>
      <Field label={words.holidays} hint={words.holidaysHint} {...exact} {...form.bind('holidays')} />
      <p class="hint">{words.layersHint}</p>
      {layers.map((layer, index) => (
        <LayerFields
          key={index}
          number={`${index + 1}`}
          layer={layer}
          onChange={(changes) => change(index, changes)}
          onRemove={layers.length > 1 ? () => form.set({ layers: layers.filter((_, at) => at !== index) }) : undefined}
        />
      ))}
      <IconButton icon="plus" label={words.addLayer} onClick={() => form.set({ layers: [...layers, blank] })} />
    </FormDialog>
  );
};

interface LayerProps {
  number: string;
  layer: LayerDraft;
  onChange: (changes: Partial<LayerDraft>) => void;
  onRemove: (() => void) | undefined;
}

const LayerFields = ({ number, layer, onChange, onRemove }: LayerProps) => {
  const bind = (name: keyof LayerDraft) => ({
    value: layer[name],
    onValue: (value: string) => onChange({ [name]: value }),
  });
  return (
    <fieldset class="layer">
      <legend>{words.layer(number)}</legend>
      <Field label={words.people} hint={words.peopleHint} {...exact} {...bind('people')} />
      <div class="beside">
        <Field label={words.every} hint={words.everyHint} {...exact} {...bind('every')} />
        <Field label={words.at} hint={words.atHint} {...exact} {...bind('at')} />
      </div>
      <Field label={words.hours} hint={words.hoursHint} {...exact} {...bind('hours')} />
      <div class="beside">
        <Field label={words.from} hint={words.dateHint} {...exact} placeholder="2026-01-31" {...bind('from')} />
        <Field label={words.until} hint={words.dateHint} {...exact} placeholder="2026-12-31" {...bind('until')} />
      </div>
      {onRemove && <IconButton icon="trash" label={words.removeLayer(number)} onClick={onRemove} />}
    </fieldset>
  );
};

const toDraft = ({ people, handover, hours = '', from = '', until = '' }: Layer): LayerDraft => ({
  people: people.map(toTypedPerson).join(', '),
  every: handover.every,
  at: handover.at ?? '',
  hours,
  from,
  until,
});

const toTypedPerson = (person: Layer['people'][number]): string => {
  if (typeof person === 'string') return person;
  const { name, from, until } = person;
  return `${name}${from === undefined ? '' : ` from ${from}`}${until === undefined ? '' : ` until ${until}`}`;
};

const toLayer = ({ people, every, at, hours, from, until }: LayerDraft): Layer => ({
  people: splitList(people).map(toPerson),
  handover: { every: every.trim(), ...(at.trim() !== '' && { at: at.trim() }) },
  ...(hours.trim() !== '' && { hours: hours.trim() }),
  ...(from.trim() !== '' && { from: from.trim() }),
  ...(until.trim() !== '' && { until: until.trim() }),
});

const splitList = (typed: string): string[] =>
  typed
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);

const toPerson = (typed: string): Layer['people'][number] => {
  const [, name = typed, from, until] = /^(\S+)(?:\s+from\s+(\S+))?(?:\s+until\s+(\S+))?$/.exec(typed) ?? [];
  if (from === undefined && until === undefined) return name;
  return { name, ...(from !== undefined && { from }), ...(until !== undefined && { until }) };
};
