import { type Signal, useSignal } from '@preact/signals';
import type { WatchedThing, WatchSettings } from 'signalbox/client';
import { userClient } from '../api.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { WatchChip } from './looks.tsx';
import { Observations } from './seen.tsx';

/** Milliseconds allowed for a check, including time in a queue. */
const timeout = 45_000;

interface Trial {
  /** Things found by the trial. Undefined before the first trial. */
  found: Signal<readonly WatchedThing[] | undefined>;
  isRunning: boolean;
  /** Runs a trial. If it fails, rejects with an Error that has a message for the user. */
  run: (settings: WatchSettings) => Promise<void>;
}

/** Creates a trial. A trial runs a watch once without saving it. */
export const useTrial = (): Trial => {
  const found = useSignal<readonly WatchedThing[] | undefined>(undefined);
  const isRunning = useSignal(false);
  const run = async (settings: WatchSettings): Promise<void> => {
    if (isRunning.value) return;
    isRunning.value = true;
    found.value = undefined;
    try {
      found.value = (await userClient.testWatch(settings, { timeout })).things;
    } finally {
      isRunning.value = false;
    }
  };
  return { found, isRunning: isRunning.value, run };
};

export const TrialButton = ({ isRunning, onTest }: { isRunning: boolean; onTest: () => void }) => (
  <IconButton icon="search" label={isRunning ? words.testing : words.test} isDisabled={isRunning} onClick={onTest} />
);

/** Result of the trial. Rendered even while it is empty, so that screen readers announce the text when it appears. */
export const Found = ({ found: { value: found } }: Pick<Trial, 'found'>) => (
  <div class="tested" role="status">
    {found && (
      <div class="note found">
        <p>{found.length === 0 ? words.foundNothing : words.found}</p>
        {found.length > 0 && (
          <ul>
            {found.map((thing) => (
              <li key={thing.thing}>
                <WatchChip state={thing.state} />
                <div>
                  <span>
                    <LongText value={thing.text} most={300} />
                    {thing.state === 'pending' && ` (${words.wouldAlert})`}
                  </span>
                  <Observations seen={thing.seen} />
                </div>
              </li>
            ))}
          </ul>
        )}
      </div>
    )}
  </div>
);
