import type { CommandDescription, CommandList } from 'signalbox/client';
import { goTo, place, toHash } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Choice } from '../ui/field.tsx';
import { HostName } from '../ui/host-name.tsx';
import { Icon } from '../ui/icon.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Panel } from '../ui/panel.tsx';
import { useTyped } from '../ui/typed.ts';
import { ParameterField } from './fields.tsx';
import { listParameters, toCommandLine } from './parameters.ts';
import { isRunning, runCommand, stop } from './runs.ts';

const words = text.commands;

interface Props {
  command: CommandDescription;
  list: CommandList;
}

/** Form for a command, with the resulting command line. */
export const CommandForm = ({ command, list: { runner, commands } }: Props) => {
  const { host } = place.value.params;
  const mayRun = isAllowed(host === undefined ? 'runCommand' : 'runHostCommand');
  const { properties = {} } = command.parameters as { properties?: object };
  const { typed: values, write } = useTyped(Object.keys(properties));
  const parameters = listParameters(command, values.value);
  const line = toCommandLine(command.name, parameters, values.value);
  return (
    <Panel title={words.form} aside={<span class="hint">{words.runner(runner)}</span>} kind="command-form">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!mayRun) return;
          write();
          void runCommand(line, toHash(`/commands/${command.name}`, { ...values.value, host }), host);
        }}
      >
        {host !== undefined && (
          <p class="note">
            {words.onHost} <HostName hostname={host} />
          </p>
        )}
        <Choice
          label={words.command}
          hint={command.summary}
          value={command.name}
          options={commands.map(({ name }) => [name, name])}
          onValue={(name) => goTo(`/commands/${name}`, { host })}
        />
        {parameters.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={values.value[parameter.name] ?? ''}
            onValue={(value) => {
              values.value = { ...values.value, [parameter.name]: value };
            }}
          />
        ))}
        <CommandLine line={line} />
        {!mayRun && <p class="note">{words.adminHint}</p>}
        <div class="actions">
          {mayRun && (
            <button type="submit" class="primary" aria-disabled={isRunning.value}>
              <Icon name="play" /> {isRunning.value ? words.running : words.run}
            </button>
          )}
          {isRunning.value && <IconButton icon="close" label={words.stop} onClick={stop} />}
          <CopyButton label={words.copyLine} value={() => line} />
        </div>
      </form>
    </Panel>
  );
};

const CommandLine = ({ line }: { line: string }) => (
  <div class="command-line">
    <span class="hint" id="command-line">
      {words.line}
    </span>
    <output aria-labelledby="command-line">
      <code>
        <bdi>{line}</bdi>
      </code>
    </output>
  </div>
);
