import { useSignal } from '@preact/signals';
import type { EscalationRouting } from 'signalbox/client';
import { severities } from '../../src/kit/severity.ts';
import { client, userClient } from '../api.ts';
import { toIfMatch, useSeen } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useSubmission } from '../live/submission.ts';
import { place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Choice, exact, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';

type Rule = EscalationRouting['rules'][number];

/** Describes a routing rule: `backup*, ERROR and worse, team=db → ops`. */
const describeRule = ({ source, hostname, level, labels = {}, hours, policy }: Rule): string => {
  const conditions = [source, hostname, level, ...toLabelTexts(labels), hours].filter(Boolean).join(', ');
  return `${conditions || words.anyIncident} → ${policy ?? words.noPolicy}`;
};

const toLabelTexts = (labels: Record<string, string>): string[] =>
  Object.entries(labels).map(([name, value]) => `${name}=${value}`);

/** The routing: the first rule that matches an incident chooses its policy. */
export const Routing = () => {
  const { value, error, reload } = useResource((signal) => client.getEscalationRouting(undefined, { signal }), {
    isKept: true,
  });
  if (!value) return <Unloaded error={error} reload={reload} lines={3} />;
  const { rules, default: other, origin } = value;
  return (
    <section>
      <h2>{words.routing}</h2>
      <p class="hint">{origin === 'config' ? text.configHint : words.routingHint}</p>
      <ol>
        {rules.map((rule, index) => (
          <li key={index}>
            <bdi>{describeRule(rule)}</bdi>
          </li>
        ))}
        <li>
          <bdi>{describeRule({ policy: other })}</bdi>
        </li>
      </ol>
      {origin !== 'config' && isAllowed('putEscalationRouting') && (
        <IconButton icon="edit" label={words.editRouting} onClick={() => setParams({ routing: '1' })} />
      )}
      {place.value.params.routing && (
        <RoutingForm present={value} onChanged={reload} onClose={() => setParams({ routing: undefined })} />
      )}
    </section>
  );
};

interface RuleDraft extends Record<'source' | 'hostname' | 'level' | 'labels' | 'hours' | 'policy', string> {}

const toDraft = ({ source = '', hostname = '', level = '', labels = {}, hours = '', policy }: Rule): RuleDraft => ({
  source,
  hostname,
  level,
  hours,
  labels: toLabelTexts(labels).join(', '),
  policy: policy ?? '',
});

const toRule = ({ labels, policy, ...texts }: RuleDraft): Rule => {
  const given = labels.split(',').filter((each) => each.trim() !== '');
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value.trim() !== '')),
    ...(given.length > 0 && { labels: Object.fromEntries(given.map(toLabel)) }),
    policy: policy || null,
  };
};

const toLabel = (given: string): [string, string] => {
  const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*\S)\s*$/.exec(given) ?? [];
  if (!name || !value) throw new Error(words.badLabel(given.trim()));
  return [name, value];
};

const empty: RuleDraft = { source: '', hostname: '', level: '', labels: '', hours: '', policy: '' };
const texts = ['source', 'hostname', 'labels', 'hours'] as const;

const RoutingForm = ({
  present,
  onClose,
  onChanged,
}: {
  present: EscalationRouting;
  onClose: () => void;
  onChanged: () => void;
}) => {
  const before = useSeen(present);
  const rules = useSignal<RuleDraft[]>(before.rules.map(toDraft));
  const other = useSignal(before.default ?? '');
  const { value } = useResource((signal) => client.listEscalationPolicies(undefined, { signal }));
  const known = (value?.data ?? []).filter(({ origin }) => origin !== 'destinations').map(({ name }) => name);
  const policies: [string, string][] = [['', words.noPolicy], ...known.map((name): [string, string] => [name, name])];
  const levels: [string, string][] = [
    ['', words.allLevels],
    ...severities.map((level): [string, string] => [level, words.from(text.alerts.severities[level])]),
  ];
  const submission = useSubmission(async () => {
    const body = { rules: rules.value.map(toRule), default: other.value || null };
    await userClient.putEscalationRouting(body, toIfMatch(before)).finally(onChanged);
    notify(words.saved(words.routing));
    onClose();
  });
  const change = (index: number, changes: Partial<RuleDraft>) => {
    rules.value = rules.value.map((rule, at) => (at === index ? { ...rule, ...changes } : rule));
  };
  return (
    <FormDialog title={words.routing} action={words.save} onClose={onClose} {...submission}>
      <p class="hint">{words.routingHint}</p>
      {rules.value.map((rule, index) => (
        <fieldset key={index} class="more-fields">
          <legend>{words.ruleNumber(`${index + 1}`)}</legend>
          {texts.map((name) => (
            <Field
              key={name}
              {...exact}
              label={words.ruleFields[name]}
              hint={words.ruleHints[name]}
              value={rule[name]}
              onValue={(typed) => change(index, { [name]: typed })}
            />
          ))}
          <div class="beside">
            <Choice
              label={words.levels}
              value={rule.level}
              options={levels}
              onValue={(level) => change(index, { level })}
            />
            <Choice
              label={words.policy}
              value={rule.policy}
              options={policies}
              onValue={(policy) => change(index, { policy })}
            />
          </div>
          <IconButton
            icon="trash"
            label={words.removeRule}
            name={`${words.removeRule} ${index + 1}`}
            onClick={() => {
              rules.value = rules.value.filter((_, at) => at !== index);
            }}
          />
        </fieldset>
      ))}
      <IconButton
        icon="plus"
        label={words.addRule}
        onClick={() => {
          rules.value = [...rules.value, empty];
        }}
      />
      <Choice
        label={words.defaultPolicy}
        value={other.value}
        options={policies}
        onValue={(name) => {
          other.value = name;
        }}
      />
    </FormDialog>
  );
};
