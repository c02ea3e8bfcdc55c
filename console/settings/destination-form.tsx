import { useSignal } from '@preact/signals';
import type { Destination } from 'signalbox/client';
import { userClient } from '../api.ts';
import { putSeen, useSeen } from '../live/conditional.ts';
import { type DraftProps, useSubmission } from '../live/submission.ts';
import { goTo, place } from '../router.ts';
import { isMounted } from '../routes.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, CheckBox, Choice, exact, Field } from '../ui/field.tsx';
import { notify } from '../ui/toast.tsx';
import {
  type DestinationDraft,
  type DestinationKind,
  destinationFields,
  type FieldName,
  listLevels,
  listMoreFields,
  secretFields,
  toDestinationDefinition,
  toDestinationDraft,
} from './destination-draft.ts';
import type { FormProps } from './section.tsx';

interface PartProps extends Pick<DraftProps<DestinationDraft>, 'draft' | 'set'> {
  before: Destination | undefined;
}

/** Form of a destination, with the fields of its type. */
export const DestinationForm = ({ before: present, onClose, onChanged }: FormProps<Destination>) => {
  const before = useSeen(present);
  const draft = useSignal<DestinationDraft>(before ? toDestinationDraft(before) : createDraft());
  const set = (changes: Partial<DestinationDraft>) => {
    draft.value = { ...draft.value, ...changes };
  };
  const submission = useSubmission(async () => {
    const destination = draft.value.name.trim();
    if (destination === '') throw new Error(words.noName);
    const definition = toDestinationDefinition(draft.value, before);
    const put = (options: object) =>
      userClient.putDestination({ destination, ...definition }, options).finally(onChanged);
    await putSeen(put, before, words.exists(destination));
    notify(words.saved(destination));
    goTo('/settings/destinations', { open: destination });
  });
  const part = { draft: draft.value, before, set };
  return (
    <FormDialog
      title={before ? `${words.change.destinations} ${before.name}` : words.create.destinations}
      action={before ? words.save : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && <TypeAndName {...part} />}
      {destinationFields[draft.value.type].map((name) => (
        <FieldOf key={name} name={name} {...part} />
      ))}
      <Filter {...part} />
      <details>
        <summary>{words.more}</summary>
        <div class="more-fields">
          {listMoreFields(draft.value).map((name) => (
            <FieldOf key={name} name={name} {...part} />
          ))}
        </div>
      </details>
      {before?.hidden.some((name) => name !== 'url') && (
        <CheckBox
          label={words.forget}
          checked={draft.value.isForgotten}
          onValue={(isForgotten) => set({ isForgotten })}
        />
      )}
    </FormDialog>
  );
};

const createDraft = (): DestinationDraft => {
  const { type = '' } = place.value.params;
  return {
    name: '',
    levels: '',
    fields: {},
    isForgotten: false,
    type: type in words.types ? (type as DestinationKind) : 'ntfy',
    notify: isMounted('listIncidents') ? 'incidents' : 'alerts',
  };
};

export const TypeAndName = ({ draft, set }: PartProps) => (
  <>
    <Choice
      label={words.type}
      value={draft.type}
      options={Object.entries(words.types)}
      onValue={(type) => set({ type: type as DestinationKind })}
    />
    <Field
      {...exact}
      label={words.name}
      hint={words.destinationNameHint}
      value={draft.name}
      onValue={(name) => set({ name })}
    />
  </>
);

const methods = ['POST', 'PUT', 'PATCH', 'GET'];

export const FieldOf = ({ name, draft: { type, fields }, before, set }: PartProps & { name: FieldName }) => {
  const shared = {
    label: words.fields[name],
    hint: toHint(name, type, before),
    value: fields[name] ?? '',
    onValue: (value: string) => set({ fields: { ...fields, [name]: value } }),
  };
  if (name === 'method')
    return <Choice {...shared} value={shared.value || 'POST'} options={methods.map((each) => [each, each])} />;
  if (name === 'body' || name === 'headers') return <Area {...shared} lines={2} />;
  // Keeps the browser from saving the value as the user's password.
  const isSecret = name === 'secret' || name === 'token';
  return <Field {...exact} {...shared} {...(isSecret && { type: 'password', autocomplete: 'new-password' })} />;
};

const toHint = (name: FieldName, type: DestinationKind, before: Destination | undefined): string | undefined => {
  if (secretFields.includes(name) && before?.hidden.includes(name as never)) return words.known;
  const hints: Partial<Record<FieldName, string>> = {
    ...words.fieldHints,
    url: words.urls[type],
    secret: (words.secrets as Partial<Record<DestinationKind, string>>)[type] ?? '',
  };
  return hints[name];
};

/** Fields that choose what the destination receives. */
const Filter = ({ draft, set }: PartProps) => (
  <div class="beside">
    {isMounted('listIncidents') && (
      <Choice
        label={words.notify}
        value={draft.notify}
        options={Object.entries(words.notifies)}
        onValue={(value) => set({ notify: value as DestinationDraft['notify'] })}
      />
    )}
    <Choice
      label={words.levels}
      value={draft.levels}
      options={listLevels(draft.levels)}
      onValue={(levels) => set({ levels })}
    />
  </div>
);
