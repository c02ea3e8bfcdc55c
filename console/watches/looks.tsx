import type { Watch, WatchedThing } from 'signalbox/client';
import { toCount, toDuration } from '../format.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { Chip, type Look } from '../ui/chip.tsx';
import { toTone } from '../ui/severity.tsx';
import { Spark } from '../ui/spark.tsx';
import { limitsOf, settingsOf, toFigure, toLimitText, unitOf } from './kinds.ts';

const looks: Record<Watch['state'], Look> = {
  ok: { tone: 'good', icon: 'check' },
  pending: { tone: 'warning', icon: 'clock' },
  firing: { tone: 'error', icon: 'firing' },
  'cannot check': { tone: 'warning', icon: 'warning' },
  new: { tone: 'quiet', icon: 'clock' },
  paused: { tone: 'quiet', icon: 'pause' },
  elsewhere: { tone: 'quiet', icon: 'instances' },
};

/** State in words. A firing watch has the colour of its level. */
export const WatchChip = ({ state, level }: Pick<Watch, 'state'> & Partial<Pick<WatchedThing, 'level'>>) => {
  const { tone, icon } = looks[state];
  return (
    <Chip tone={state === 'firing' && level ? toTone(level) : tone} icon={icon}>
      {words.states[state]}
    </Chip>
  );
};

/** Recent history of a thing, with its limits. */
export const RecentLine = ({ settings: all, thing }: Pick<Watch, 'settings'> & { thing: WatchedThing }) => {
  const { recent } = thing;
  const settings = settingsOf(all, thing);
  if (!recent) return null;
  const { figures, bad } = recent;
  const isMeasured = figures.some((figure) => figure !== null);
  const span = toDuration(recent.step * Math.max(1, figures.length));
  return (
    <Spark
      label={`${words.hours} (${span}): ${summarize(settings, thing)}`}
      values={figures}
      bad={bad}
      limits={limitsOf(settings)}
      top={unitOf(settings) === 'percent' && settings.type !== 'process' ? 100 : undefined}
      isStrip={!isMeasured}
    />
  );
};

/** Describes the recent history in words. */
const summarize = (settings: Watch['settings'], { recent }: WatchedThing): string => {
  const format = toFigure(settings);
  const known = (recent?.figures ?? []).filter((figure) => figure !== null);
  const checked = (recent?.bad ?? []).filter((isBad) => isBad !== null);
  const last = known.at(-1);
  if (last !== undefined) {
    const said = words.summary(format(last), format(Math.min(...known)), format(Math.max(...known)));
    return [said, ...limitsOf(settings).map((limit) => words.limitIs(toLimitText(settings)(limit)))].join(', ');
  }
  if (checked.length === 0) return words.noReadings;
  return words.strip(toCount(checked.filter((isBad) => !isBad).length), toCount(checked.length));
};
