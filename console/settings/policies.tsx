import { useSignal } from '@preact/signals';
import type { EscalationPolicy } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { putSeen, toIfMatch, useSeen } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useSubmission } from '../live/submission.ts';
import { goTo } from '../router.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { Chip } from '../ui/chip.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { Choice, exact, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import type { Column } from '../ui/table.tsx';
import { notify } from '../ui/toast.tsx';
import { Routing } from './routing.tsx';
import { type FormProps, Section } from './section.tsx';

const stop = 'stop';

/** Describes the steps of a policy: `rotation:ops, then person:anna after 5 minutes`. */
const describeSteps = ({ steps }: EscalationPolicy): string =>
  steps
    .map(({ notify: names }, index) => {
      const wait = steps[index - 1]?.wait;
      const list = names.join(', ') || words.nobody;
      return wait === undefined ? list : words.afterWait(wait, list);
    })
    .join(' → ');

const describeEnd = ({ repeat, then }: EscalationPolicy): string =>
  [repeat > 0 && words.repeated(`${repeat}`), then !== stop && words.thenPolicy(then)].filter(Boolean).join(' · ');

const columns: Column<EscalationPolicy>[] = [
  { key: 'steps', title: words.steps, cell: (policy) => <bdi>{describeSteps(policy)}</bdi> },
  { key: 'end', title: words.then, width: '13rem', isMinor: true, cell: describeEnd },
];

const Mark = ({ unknown }: EscalationPolicy) =>
  unknown.length > 0 ? (
    <Chip tone="warning" icon="warning">
      {words.unknownNames(unknown.join(', '))}
    </Chip>
  ) : null;

/** Escalation policies, and the routing that chooses a policy for each incident. */
export const PoliciesSection = () => (
  <>
    <Section
      kind="policies"
      load={(signal) => client.listEscalationPolicies(undefined, { signal })}
      columns={columns}
      Mark={Mark}
      describe={describeSteps}
      toFacts={(policy) => [
        ...policy.steps.map(({ notify: names, wait }, index): [string, string] => [
          words.stepNumber(`${index + 1}`),
          `${names.join(', ') || words.nobody} · ${words.waits(wait)}`,
        ]),
        [words.then, describeEnd(policy) || words.stops],
        ...policy.notes.map((note): [string, string] => [words.rule, note]),
      ]}
      Form={PolicyForm}
      createRoute="putEscalationPolicy"
      isChangeable
      remove={(policy) => userClient.deleteEscalationPolicy({ policy: policy.name }, toIfMatch(policy))}
    />
    <Routing />
  </>
);

interface StepDraft {
  notify: string;
  wait: string;
}

const PolicyForm = ({ before: present, onClose, onChanged }: FormProps<EscalationPolicy>) => {
  const before = useSeen(present);
  const name = useSignal(before?.name ?? '');
  const first = before?.steps.map((step) => ({ notify: step.notify.join(', '), wait: step.wait }));
  const steps = useSignal<StepDraft[]>(first ?? [{ notify: '', wait: '5 minutes' }]);
  const repeat = useSignal(`${before?.repeat ?? 0}`);
  const following = useSignal(before?.then ?? stop);
  const { value } = useResource((signal) => client.listEscalationPolicies(undefined, { signal }));
  const others = (value?.data ?? []).filter(
    ({ origin, name: each }) => origin !== 'destinations' && each !== before?.name,
  );
  const submission = useSubmission(async () => {
    const policy = name.value.trim();
    if (policy === '') throw new Error(words.noName);
    const body = {
      steps: steps.value.map((step) => ({ notify: splitNames(step.notify), wait: step.wait.trim() })),
      repeat: Number(repeat.value),
      then: following.value,
    };
    const put = (options: object) => userClient.putEscalationPolicy({ policy, ...body }, options).finally(onChanged);
    await putSeen(put, before, words.policyExists(policy));
    notify(words.saved(policy));
    goTo('/settings/policies', { open: policy });
  });
  const change = (index: number, changes: Partial<StepDraft>) => {
    steps.value = steps.value.map((step, at) => (at === index ? { ...step, ...changes } : step));
  };
  return (
    <FormDialog
      title={before ? `${words.change.policies} ${before.name}` : words.create.policies}
      action={before ? words.save : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && (
        <Field
          {...exact}
          label={words.name}
          hint={words.destinationNameHint}
          value={name.value}
          onValue={(text) => {
            name.value = text;
          }}
        />
      )}
      {steps.value.map((step, index) => (
        <fieldset key={index} class="more-fields">
          <legend>{words.stepNumber(`${index + 1}`)}</legend>
          <Field
            {...exact}
            label={words.notifyNames}
            hint={words.notifyHint}
            value={step.notify}
            onValue={(text) => change(index, { notify: text })}
          />
          <Field
            {...exact}
            label={words.wait}
            hint={words.waitHint}
            value={step.wait}
            onValue={(text) => change(index, { wait: text })}
          />
          {steps.value.length > 1 && (
            <IconButton
              icon="trash"
              label={words.removeStep}
              name={`${words.removeStep} ${index + 1}`}
              onClick={() => {
                steps.value = steps.value.filter((_, at) => at !== index);
              }}
            />
          )}
        </fieldset>
      ))}
      <IconButton
        icon="plus"
        label={words.addStep}
        onClick={() => {
          steps.value = [...steps.value, { notify: '', wait: '5 minutes' }];
        }}
      />
      <div class="beside">
        <Field
          label={words.repeat}
          type="number"
          value={repeat.value}
          onValue={(text) => {
            repeat.value = text;
          }}
        />
        <Choice
          label={words.then}
          value={following.value}
          options={[[stop, words.stops], ...others.map((other): [string, string] => [other.name, other.name])]}
          onValue={(text) => {
            following.value = text;
          }}
        />
      </div>
    </FormDialog>
  );
};

const splitNames = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
