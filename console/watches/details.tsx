import type { ComponentChildren } from 'preact';
import type { Watch, WatchedThing } from 'signalbox/client';
import { client } from '../api.ts';
import { toDuration } from '../format.ts';
import { type ActiveIncidents, findIncident } from '../live/active-incidents.ts';
import { useRun } from '../live/run.ts';
import { goTo, place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { AvailabilityPart } from '../ui/availability.tsx';
import { Chart } from '../ui/chart.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { type Fact, Facts, toDoneBy } from '../ui/facts.tsx';
import { HostLinks } from '../ui/host-name.tsx';
import { IncidentLink } from '../ui/incident-link.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Empty } from '../ui/panel.tsx';
import type { PlotData, Series } from '../ui/plot.ts';
import { ThingLinks } from '../ui/thing-links.tsx';
import { Since } from '../ui/time.tsx';
import { WatchActions } from './actions.tsx';
import { toWatchDraft } from './draft.ts';
import { WatchForm } from './form.tsx';
import {
  describeWatch,
  findWorst,
  limitsOf,
  settingsOf,
  sideOf,
  sortThings,
  toFigure,
  toLimitText,
  unitOf,
} from './kinds.ts';
import { RecentLine, WatchChip } from './looks.tsx';
import { Observations } from './seen.tsx';
import { Found, TrialButton, useTrial } from './trial.tsx';

/** Maximum number of watched things shown. */
const mostShown = 30;

interface Props {
  name: string;
  /** Watch with this name. Undefined if it does not exist. */
  watch: Watch | undefined;
  known: readonly Watch[];
  incidents: ActiveIncidents;
  onChanged: () => void;
}

/** Dialog for a watch. With `edit` in the URL, shows the edit form. */
export const WatchDialog = ({ name, watch, known, incidents, onChanged }: Props) => {
  if (watch && place.value.params['edit'] && watch.origin !== 'config') {
    return (
      <WatchForm
        draft={toWatchDraft(watch.settings)}
        before={watch}
        known={known}
        onSaved={onChanged}
        onClose={() => setParams({ edit: undefined })}
      />
    );
  }
  return (
    <Dialog title={words.details(name)} kind="drawer" onClose={() => goTo('/watches', { q: place.value.params['q'] })}>
      {watch ? (
        <Details watch={watch} known={known} incidents={incidents} onChanged={onChanged} />
      ) : (
        <Empty title={words.missing} hint={words.missingHint} />
      )}
    </Dialog>
  );
};

const Details = ({ watch, known, incidents, onChanged }: Omit<Props, 'name' | 'watch'> & { watch: Watch }) => {
  const { name, settings, state, since, things } = watch;
  // If there is a single thing, its state is the state of the watch.
  const isSingle = things.length < 2;
  const trial = useTrial();
  const test = useRun(() => trial.run(settings));
  return (
    <article class="alert">
      <p class="alert-head">
        <WatchChip state={state} level={findWorst(watch)?.level ?? null} />
        <span class="hint">{since && state !== 'paused' && <Since time={since} />}</span>
        {isSingle && <IncidentLink incident={findIncident(incidents, `watch/${name}`)} />}
      </p>
      <p class="message">
        <LongText value={describeWatch(settings)} />
      </p>
      {watch.origin === 'config' && <p class="hint">{text.configHint}</p>}
      {watch.origin === 'default' && <p class="hint">{words.defaultHint}</p>}
      {state === 'elsewhere' && <p class="note">{words.elsewhereHint}</p>}
      <div class="actions">
        <WatchActions watch={watch} onChanged={onChanged} />
        {isAllowed('testWatch') && <TrialButton isRunning={trial.isRunning} onTest={test.run} />}
      </div>
      <Found found={trial.found} />
      {sortThings(things, settings)
        .slice(0, mostShown)
        .map((thing) => (
          <Thing key={thing.thing} settings={settings} thing={thing}>
            {!isSingle && (
              <p class="alert-head">
                <WatchChip state={thing.state} level={thing.level} />
                <span class="hint">
                  <Since time={thing.since} />
                </span>
                <IncidentLink incident={findIncident(incidents, `watch/${name}`, { thing: thing.thing })} />
              </p>
            )}
          </Thing>
        ))}
      {isAllowed('getWatchAvailability') && (
        <AvailabilityPart name={name} load={(signal) => client.getWatchAvailability({ watch: name }, { signal })} />
      )}
      <Facts facts={toFacts(watch, known)} />
    </article>
  );
};

/** Watched thing with its chart. */
const Thing = ({
  settings: all,
  thing,
  children,
}: Pick<Watch, 'settings'> & { thing: WatchedThing; children: ComponentChildren }) => {
  const settings = settingsOf(all, thing);
  const isMeasured = thing.recent?.figures.some((figure) => figure !== null);
  return (
    <section class="watched">
      {children}
      <p>
        <LongText value={thing.text} most={500} />
      </p>
      <Observations seen={thing.seen} />
      {isMeasured ? (
        <Chart title={thing.thing} data={toPlot(settings, thing)} />
      ) : (
        <RecentLine settings={all} thing={thing} />
      )}
    </section>
  );
};

/** Minimum span of the time axis in seconds, so that a new watch does not seem old. */
const leastSeconds = 30 * 60;

const colors = ['--warning-bar', '--critical-bar'] as const;

const toPlot = (settings: Watch['settings'], { recent }: WatchedThing): PlotData | undefined => {
  if (!recent) return undefined;
  const { start, step, figures } = recent;
  const from = Date.parse(start) / 1000;
  const to = from + figures.length * step;
  const begin = Math.min(from, to - leastSeconds);
  // Limits span the entire chart.
  const before = begin < from ? [begin] : [];
  // Each step is as wide as its time, so that a single value is visible.
  const times = [...before, ...figures.map((_, index) => from + index * step), to];
  const values = [...before.map(() => null), ...figures, figures.at(-1) ?? null];
  const limits = limitsOf(settings).map(
    (limit, index): Series => ({
      label: index === 0 ? words.limit.toLowerCase() : words.critical,
      color: colors[index] ?? colors[0],
      values: times.map(() => limit),
      isLimit: true,
    }),
  );
  return {
    times,
    series: [{ label: words.reading, color: '--series-1', values }, ...limits],
    from: begin,
    to,
    kind: 'lines',
    format: toFigure(settings),
    axis: toLimitText(settings),
    ...(unitOf(settings) === 'percent' && settings.type !== 'process' && { top: 100 }),
    isBytes: unitOf(settings) === 'bytes' || unitOf(settings) === 'rate',
  };
};

const toFacts = ({ settings, updatedBy, updatedAt }: Watch, known: readonly Watch[]): Fact[] => {
  const { message, every, level, hosts = [], from = [], dependsOn = [] } = settings;
  // A name without a kind belongs to a watch, if there is such a watch.
  const things = dependsOn.map((each) => (known.some(({ name }) => name === each) ? `watch/${each}` : each));
  return [
    [words.facts.message, message || null],
    [words.facts.limit, describeLimit(settings)],
    [words.facts.level, level && text.alerts.severities[level]],
    [words.facts.every, every ? words.everyTime(toDuration(every)) : null],
    [words.facts.hosts, hosts.length > 0 && <HostLinks names={hosts} />],
    [words.facts.from, from.length > 0 && <HostLinks names={from} />],
    [text.dependsOn, dependsOn.length > 0 && <ThingLinks names={things} />],
    [text.changed, toDoneBy(updatedBy, updatedAt)],
  ];
};

/** Describes the condition of the alert in words: `at 90 % or more, critical at 97 % or more, after 1 min`. */
const describeLimit = (settings: Watch['settings']): string => {
  const format = toLimitText(settings);
  const toReached = words.reached[sideOf(settings)];
  const [limit, critical] = limitsOf(settings);
  return [
    limit === undefined ? words.onFault : toReached(format(limit)),
    critical !== undefined && words.critically(toReached(format(critical))),
    settings.for && words.lasting(toDuration(settings.for)),
    settings.clear !== undefined && words.ends(format(settings.clear)),
  ]
    .filter(Boolean)
    .join(', ');
};
