import { useSignal } from '@preact/signals';
import type { Person, Way } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { putSeen, toIfMatch, useSeen } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { useSubmission } from '../live/submission.ts';
import { goTo, place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { Chip } from '../ui/chip.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { CheckBox, exact, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Unloaded } from '../ui/panel.tsx';
import type { Column } from '../ui/table.tsx';
import { notify } from '../ui/toast.tsx';
import {
  type DestinationDraft,
  type DestinationKind,
  destinationFields,
  type FieldName,
  listMoreFields,
  toDestinationDefinition,
  toDestinationDraft,
} from './destination-draft.ts';
import { FieldOf, TypeAndName } from './destination-form.tsx';
import { type FormProps, Section } from './section.tsx';

/** Name that represents the caller in paths. */
const name = 'me';

/** Milliseconds to wait for a receiver. */
const testTimeout = 60_000;

type ListedWay = Way & { origin: 'made' };

const toType = ({ settings: { type } }: Way): string => words.types[type as DestinationKind] ?? type;
const toAddress = ({ settings: { to, url } }: Way): string => to?.join(', ') ?? url ?? '';
const toDelay = ({ settings: { delay } }: Way): string => delay ?? words.atOnce;

const columns: Column<ListedWay>[] = [
  { key: 'type', title: words.type, width: '11rem', cell: toType },
  { key: 'address', title: words.address, cell: (way) => <bdi>{toAddress(way)}</bdi> },
  { key: 'delay', title: words.delay, width: '9rem', cell: toDelay },
];

const Mark = ({ provenAt, problem }: Way) => {
  if (problem !== null) return <Chip tone="error">{words.unusable}</Chip>;
  return provenAt === null ? <Chip tone="warning">{words.unproven}</Chip> : null;
};

/** Ways to reach the current user, and quiet hours. */
export const WaysSection = () => (
  <>
    <Section
      kind="ways"
      load={async (signal) => {
        const { ways } = await client.getPerson({ person: name }, { signal });
        return { data: ways.map((way): ListedWay => ({ ...way, origin: 'made' })) };
      }}
      columns={columns}
      Mark={Mark}
      describe={(way) => `${toType(way)} · ${toDelay(way)}`}
      toFacts={(way) => [
        [words.type, toType(way)],
        [words.address, toAddress(way)],
        [words.delay, toDelay(way)],
        [words.problem, way.problem],
      ]}
      Form={WayForm}
      createRoute="putWay"
      isChangeable
      remove={(way) => userClient.deleteWay({ person: name, way: way.name }, toIfMatch(way))}
      More={WayTest}
    />
    <Quiet />
  </>
);

const WayForm = ({ before: present, onClose, onChanged }: FormProps<ListedWay>) => {
  const before = useSeen(present);
  const draft = useSignal<DestinationDraft>(before ? toDraft(before) : newDraft);
  const delay = useSignal(before?.settings.delay ?? '');
  const set = (changes: Partial<DestinationDraft>) => {
    draft.value = { ...draft.value, ...changes };
  };
  const submission = useSubmission(async () => {
    const way = draft.value.name.trim();
    if (way === '') throw new Error(words.noName);
    const { notify: _, ...definition } = toDestinationDefinition(draft.value, before as never);
    const { delay: __, ...rest } = definition as { delay?: string; type: string };
    const body = { ...rest, ...(delay.value.trim() !== '' && { delay: delay.value.trim() }) };
    const put = (options: object) => userClient.putWay({ person: name, way, ...body }, options).finally(onChanged);
    await putSeen(put, before, words.wayExists(way));
    notify(words.saved(way));
    goTo('/settings/ways', { open: way });
  });
  const part = { draft: draft.value, before: before as never, set };
  const { type } = draft.value;
  const isMail = type === 'email';
  const fields: readonly FieldName[] = isMail ? ['to'] : destinationFields[type];
  const more = isMail ? destinationFields.email.filter((each) => each !== 'to') : listMoreFields(draft.value);
  return (
    <FormDialog
      title={before ? `${words.change.ways} ${before.name}` : words.create.ways}
      action={before ? words.save : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && <TypeAndName {...part} />}
      {fields.map((each) => (
        <FieldOf key={each} name={each} {...part} />
      ))}
      <Field
        {...exact}
        label={words.delay}
        hint={words.delayHint}
        value={delay.value}
        onValue={(typed) => {
          delay.value = typed;
        }}
      />
      <details>
        <summary>{isMail ? words.ownServer : words.more}</summary>
        <div class="more-fields">
          {more.map((each) => (
            <FieldOf key={each} name={each} {...part} />
          ))}
        </div>
      </details>
      {before?.hidden.some((each) => each !== 'url') && (
        <CheckBox
          label={words.forget}
          checked={draft.value.isForgotten}
          onValue={(isForgotten) => set({ isForgotten })}
        />
      )}
    </FormDialog>
  );
};

/**
 * Draft of a new way. Ways have no `after`, `repeat` and `hours`. The form of destinations shows these fields for
 * incidents.
 */
const newDraft: DestinationDraft = {
  name: '',
  type: 'ntfy',
  notify: 'alerts',
  levels: '',
  fields: {},
  isForgotten: false,
};

const toDraft = (way: ListedWay): DestinationDraft => ({ ...toDestinationDraft(way as never), notify: 'alerts' });

/** Buttons to send a test, and to confirm it with the code in the test message. */
const WayTest = ({ name: way, provenAt, onChanged }: ListedWay & { onChanged: () => void }) => {
  const tested = useSignal<{ delivered: boolean; response: string } | undefined>(undefined);
  const code = useSignal('');
  const test = useRun(async () => {
    tested.value = undefined;
    tested.value = await userClient.testWay({ person: name, way }, { timeout: testTimeout });
  });
  const confirm = useRun(async () => {
    await userClient.confirmWay({ person: name, way, code: code.value }).finally(onChanged);
    notify(words.confirmed(way));
    goTo('/settings/ways');
  });
  return (
    <>
      <p class="hint">{provenAt === null ? words.unprovenHint : words.proven}</p>
      <div class="actions">
        <IconButton
          icon="notifications"
          label={test.isRunning ? text.notifications.testing : text.notifications.test}
          isDisabled={test.isRunning}
          onClick={test.run}
        />
      </div>
      <div class="tested" role="status">
        {tested.value && (
          <div class={`note ${tested.value.delivered ? '' : 'alarm'}`}>
            <p>{tested.value.delivered ? words.testSent : text.notifications.testRefused}</p>
            {!tested.value.delivered && (
              <p class="mono">
                <LongText value={tested.value.response} most={300} />
              </p>
            )}
          </div>
        )}
      </div>
      {(tested.value?.delivered || provenAt === null) && (
        <Field
          {...exact}
          label={words.code}
          inputMode="numeric"
          value={code.value}
          onValue={(typed) => {
            code.value = typed;
          }}
          aside={
            <button
              type="button"
              class="button"
              disabled={confirm.isRunning || code.value === ''}
              onClick={confirm.run}
            >
              {words.confirm}
            </button>
          }
        />
      )}
    </>
  );
};

/** Time zone and quiet hours of the current user. */
const Quiet = () => {
  const { value, error, reload } = useResource((signal) => client.getPerson({ person: name }, { signal }), {
    isKept: true,
  });
  if (!value) return <Unloaded error={error} reload={reload} lines={2} />;
  const { quietHours, timeZone } = value;
  return (
    <section>
      <h2>{words.quiet}</h2>
      <p class="hint">{quietHours === undefined ? words.noQuiet : [quietHours, timeZone].filter(Boolean).join(' ')}</p>
      <IconButton icon="edit" label={words.editQuiet} onClick={() => setParams({ quiet: '1' })} />
      {place.value.params.quiet && (
        <QuietForm present={value} onChanged={reload} onClose={() => setParams({ quiet: undefined })} />
      )}
    </section>
  );
};

const QuietForm = ({
  present,
  onClose,
  onChanged,
}: {
  present: Person;
  onClose: () => void;
  onChanged: () => void;
}) => {
  const before = useSeen(present);
  const quietHours = useSignal(before.quietHours ?? '');
  const timeZone = useSignal(before.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const submission = useSubmission(async () => {
    const { quietExcept } = before;
    const body = {
      ...(quietHours.value.trim() !== '' && { quietHours: quietHours.value.trim() }),
      ...(timeZone.value.trim() !== '' && { timeZone: timeZone.value.trim() }),
      ...(quietExcept && { quietExcept }),
    };
    await userClient.putPerson({ person: name, ...body }, toIfMatch(before)).finally(onChanged);
    notify(words.saved(words.quiet));
    onClose();
  });
  return (
    <FormDialog title={words.quiet} action={words.save} onClose={onClose} {...submission}>
      <Field
        {...exact}
        label={words.quiet}
        hint={words.quietHint}
        value={quietHours.value}
        onValue={(typed) => {
          quietHours.value = typed;
        }}
      />
      <Field
        {...exact}
        label={words.timeZone}
        value={timeZone.value}
        onValue={(typed) => {
          timeZone.value = typed;
        }}
      />
    </FormDialog>
  );
};
