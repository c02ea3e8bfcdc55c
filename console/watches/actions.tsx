import type { Watch, WatchSettings } from 'signalbox/client';
import { userClient } from '../api.ts';
import { toIfMatch } from '../live/conditional.ts';
import { useRun } from '../live/run.ts';
import { goTo, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { CopyLink } from '../ui/copy.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { notify } from '../ui/toast.tsx';

interface Props {
  watch: Watch;
  onChanged: () => void;
}

/** Replaces an existing watch, or creates a watch. A new watch may replace a default watch. */
export const saveWatch = async (settings: WatchSettings, before?: Watch): Promise<void> => {
  if (!before || before.version === null) await userClient.createWatch(settings);
  else await userClient.replaceWatch({ ...settings, watch: before.name }, toIfMatch(before));
};

const Pause = ({ watch, onChanged }: Props) => {
  const { name, state, settings } = watch;
  const isPaused = state === 'paused';
  const { isRunning, run } = useRun(async () => {
    const { enabled: _, ...rest } = settings;
    await saveWatch(isPaused ? rest : { ...rest, enabled: false }, watch).finally(onChanged);
    notify((isPaused ? words.resumed : words.paused)(name));
  });
  return (
    <IconButton
      icon={isPaused ? 'play' : 'pause'}
      label={isPaused ? words.resume : words.pause}
      isDisabled={isRunning}
      onClick={run}
    />
  );
};

const Remove = ({ watch, onChanged }: Props) => {
  const { name, settings } = watch;
  const restore = useRun(async () => {
    await userClient.createWatch(settings).finally(onChanged);
    notify(words.restored(name));
  });
  const { isRunning, run } = useRun(async () => {
    await userClient.deleteWatch({ watch: name }, toIfMatch(watch)).finally(onChanged);
    notify(words.removed(name), { action: { label: text.undo, run: restore.run } });
    goTo('/watches');
  });
  return <IconButton icon="trash" label={words.remove} isDisabled={isRunning} onClick={run} />;
};

/** Actions for a watch that is not defined in the config file. */
export const WatchActions = (props: Props) => {
  const { origin, name } = props.watch;
  return (
    <>
      {origin !== 'config' && isAllowed('replaceWatch') && (
        <>
          <IconButton icon="edit" label={words.edit} kind="primary" onClick={() => setParams({ edit: '1' })} />
          <Pause {...props} />
          {origin === 'made' && <Remove {...props} />}
        </>
      )}
      <CopyLink path={`/watches/${encodeURIComponent(name)}`} />
    </>
  );
};
