import type { WatchedThing } from 'signalbox/client';
import { toCount } from '../format.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { LongText } from '../ui/long-text.tsx';

/** Observations of a check: the time taken by each phase, and the beginning of a bad response. */
export const Observations = ({ seen }: Pick<WatchedThing, 'seen'>) => {
  if (!seen) return null;
  const phases = Object.entries(seen.timings ?? {}).flatMap(([phase, ms]) =>
    ms === null ? [] : [words.phase(words.phases[phase as keyof typeof words.phases], toCount(ms))],
  );
  if (seen.failed) phases.push(words.noPhase(words.phases[seen.failed]));
  return (
    <>
      {phases.length > 0 && <p class="hint">{phases.join(', ')}</p>}
      {seen.text && (
        <p class="example mono">
          <LongText value={seen.text} />
        </p>
      )}
    </>
  );
};
