import { text } from '../strings/index.ts';
import { ChipToggle } from '../ui/chip.tsx';
import { CheckBox, Choice, Field } from '../ui/field.tsx';
import type { Parameter } from './parameters.ts';

const words = text.commands;

interface Props {
  parameter: Parameter;
  value: string;
  onValue: (value: string) => void;
}

export const ParameterField = ({ parameter, value, onValue }: Props) => {
  const { name, kind, options, isRequired, isList, standard, excludedBy } = parameter;
  const hint = toHint(parameter);
  const common = { label: name, hint, required: isRequired, disabled: excludedBy !== undefined, onValue };
  if (kind === 'choice') {
    const choices = options.map((each): [string, string] => [each, each]);
    return <Choice {...common} value={value} options={[['', words.notSet], ...choices]} />;
  }
  if (kind === 'choices') return <Several name={name} hint={hint} options={options} value={value} onValue={onValue} />;
  if (kind === 'switch') {
    return (
      <CheckBox label={name} hint={hint} checked={value !== ''} onValue={(checked) => onValue(checked ? 'on' : '')} />
    );
  }
  return (
    <Field
      {...common}
      type={kind === 'date' ? 'datetime-local' : kind === 'number' ? 'number' : 'text'}
      value={value}
      placeholder={standard}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      inputMode={kind === 'number' && !isList ? 'numeric' : 'text'}
    />
  );
};

const toHint = ({ description, kind, isList, standard, excludedBy }: Parameter): string => {
  if (excludedBy !== undefined) return words.excluded(excludedBy);
  const hints = [description];
  if (isList && kind === 'text') hints.push(words.several);
  if (standard !== undefined) hints.push(words.standard(standard));
  return hints.join(' ');
};

interface SeveralProps {
  name: string;
  hint: string;
  options: readonly string[];
  value: string;
  onValue: (value: string) => void;
}

/** Toggles for a list of known values. */
const Several = ({ name, hint, options, value, onValue }: SeveralProps) => {
  const chosen = value === '' ? [] : value.split(',');
  const toggle = (each: string) =>
    onValue(options.filter((option) => (option === each) !== chosen.includes(option)).join());
  return (
    <fieldset class="several">
      <legend>{name}</legend>
      <div class="chips">
        {options.map((each) => (
          <ChipToggle key={each} tone="info" pressed={chosen.includes(each)} onToggle={() => toggle(each)}>
            {each}
          </ChipToggle>
        ))}
      </div>
      <p class="hint">{hint}</p>
    </fieldset>
  );
};
