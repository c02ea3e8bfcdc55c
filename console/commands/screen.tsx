import { client } from '../api.ts';
import { useResource } from '../live/resource.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { Panel, Skeleton, Unloaded } from '../ui/panel.tsx';
import { CommandForm } from './form.tsx';
import { CommandHistory, CommandRefusal } from './history.tsx';
import { ResultPanel } from './result.tsx';
import { isRunning, runs, shownResult } from './runs.ts';

const words = text.commands;

/** Diagnostic commands: forms, results, and the session's history. */
const CommandsScreen = ({ rest }: { rest: string }) => {
  const { value, error, reload } = useResource((signal) => client.listCommands(undefined, { signal }), {
    isKept: true,
  });
  if (!value) return <Unloaded error={error} reload={reload} lines={12} />;
  const command = value.commands.find(({ name }) => name === rest) ?? value.commands[0];
  return (
    <div class="commands">
      {command && <CommandForm key={command.name} command={command} list={value} />}
      <div class="outcome">
        <Latest command={command?.name} />
        <CommandHistory />
      </div>
    </div>
  );
};

/** Result or refusal of the last command. Shown only with that command's form. */
const Latest = ({ command }: { command: string | undefined }) => {
  const [last] = runs.value;
  if (isRunning.value) return <Skeleton lines={12} />;
  if (last?.line.split(' ')[0] === command) {
    if (shownResult.value) return <ResultPanel {...shownResult.value} />;
    if (last && last.outcome !== 'stopped' && 'error' in last.outcome)
      return <CommandRefusal error={last.outcome.error} />;
  }
  return (
    <Panel title={words.result}>
      <p class="hint">{words.noResult}</p>
    </Panel>
  );
};

export const commandsView: ScreenView = { Screen: CommandsScreen };
