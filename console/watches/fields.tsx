import type { DraftProps } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { Area, CheckBox, Choice, exact, Field } from '../ui/field.tsx';
import { severityOptions } from '../ui/severity.tsx';
import { listFields, toMeasured, type WatchDraft } from './draft.ts';
import { isLimitOptional, sideOf, unitOf, usualDays, watchMetrics } from './kinds.ts';

type Props = DraftProps<WatchDraft>;

/** Fields with several lines. */
const areas: readonly string[] = ['mounts', 'units', 'except', 'ca', 'certificate', 'key', 'headers', 'body', 'json'];

/** Fields for the chosen type. `hidden` lists secrets that are stored but not shown. */
export const OwnFields = ({ draft, set, hidden = [] }: Props & { hidden?: readonly string[] | undefined }) => (
  <>
    {listFields(draft).map((name) => {
      const value = draft.own[name] ?? '';
      const onValue = (typed: string) => set({ own: { ...draft.own, [name]: typed } });
      if (name === 'metric') {
        const options = (watchMetrics[draft.type] ?? []).map((each): [string, string] => [each, words.metrics[each]]);
        return (
          <Choice
            key={name}
            label={words.metric}
            value={value || (options[0]?.[0] ?? '')}
            options={options}
            onValue={onValue}
          />
        );
      }
      const isRdap = draft.type === 'domain' && name === 'server';
      const label = isRdap ? words.rdapServer : words.fields[name];
      const hint = hidden.includes(name) ? words.kept : isRdap ? words.rdapHint : words.hints[name];
      if (name === 'resource') {
        const options = Object.entries(words.resources);
        return <Choice key={name} label={label} value={value || 'memory'} options={options} onValue={onValue} />;
      }
      if (name === 'method' || name === 'record') {
        const options = words[name === 'method' ? 'methods' : 'records'].map((each): [string, string] => [each, each]);
        return (
          <Choice
            key={name}
            label={label}
            value={value || (options[0]?.[0] ?? '')}
            options={options}
            onValue={onValue}
          />
        );
      }
      if (name === 'failed' || name === 'tls') {
        return <CheckBox key={name} label={label} checked={value !== ''} onValue={(on) => onValue(on ? '1' : '')} />;
      }
      if (areas.includes(name))
        return <Area key={name} label={label} hint={hint} value={value} onValue={onValue} lines={2} />;
      if (name === 'password')
        return (
          <Field
            key={name}
            type="password"
            autocomplete="new-password"
            label={label}
            hint={hint}
            value={value}
            onValue={onValue}
          />
        );
      return <Field key={name} {...exact} label={label} hint={hint} value={value} onValue={onValue} />;
    })}
  </>
);

const describeLimit = (measured: ReturnType<typeof toMeasured>): string => {
  const days = usualDays[measured.type];
  if (days !== undefined) return words.daysHint(String(days));
  return isLimitOptional(measured) ? words.optionalHint : words.limitHints[sideOf(measured)];
};

export const LimitFields = ({ draft, bind }: Props) => {
  const measured = toMeasured(draft);
  const unit = unitOf(measured);
  const withUnit = (label: string): string => {
    const name = words.units[unit ?? 'number'];
    return name ? words.unit(label, name) : label;
  };
  return (
    <>
      {unit && (
        <div class="beside">
          <Field
            {...exact}
            label={withUnit(words.limit)}
            hint={describeLimit(measured)}
            inputMode="decimal"
            {...bind('limit')}
          />
          <Field {...exact} label={withUnit(words.criticalField)} inputMode="decimal" {...bind('critical')} />
        </div>
      )}
      <div class="beside">
        <Choice
          label={words.level}
          options={[['', words.usualLevel(measured.type)], ...severityOptions]}
          {...bind('level')}
        />
        <Field {...exact} label={words.for} inputMode="decimal" {...bind('for')} />
      </div>
      <Field label={words.message} hint={words.messageHint} {...bind('message')} />
      <Field {...exact} label={text.dependsOn} hint={text.dependsOnHint} {...bind('dependsOn')} />
      <details>
        <summary>{words.moreSettings}</summary>
        <div class="beside">
          <Field {...exact} label={words.every} hint={words.everyHint} inputMode="decimal" {...bind('every')} />
          <Field {...exact} label={words.retries} hint={words.retriesHint} inputMode="numeric" {...bind('retries')} />
          {unit && (
            <Field
              {...exact}
              label={withUnit(words.clear)}
              hint={words.clearHint}
              inputMode="decimal"
              {...bind('clear')}
            />
          )}
        </div>
      </details>
    </>
  );
};
