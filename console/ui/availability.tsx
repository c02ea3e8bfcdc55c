import type { ComponentChildren } from 'preact';
import type { CheckAvailability } from 'signalbox/client';
import { toCount, toDuration, toFull } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { toHash } from '../router.ts';
import { availabilityTexts as words } from '../strings/availability.ts';
import { text } from '../strings/index.ts';

/** Maximum number of outages listed. */
const mostOutages = 10;

/** Kinds of days in the bar, in the order of the legend. */
const looks = ['up', 'some', 'down', 'maintenance', 'unknown'] as const;

type Day = CheckAvailability['days'][number];

interface Props {
  name: string;
  load: (signal: AbortSignal) => Promise<CheckAvailability>;
}

/** Percentage and outages of a check over 90 days. */
export const AvailabilityPart = ({ name, load }: Props) => {
  const { value } = useResource(load, { key: name, isKept: true });
  if (!value) return null;
  const { percentage, days, outages, outageCount } = value;
  return (
    <section class="availability">
      <h3>{words.title}</h3>
      <p>
        <strong>{percentage === null ? words.noReading : words.percent(toShare(percentage))}</strong>
        {percentage !== null && <span class="hint"> {words.ofDays}</span>}
      </p>
      <DayBar days={days} />
      <p class="hint">{[words.rule, ...toShares(value)].join(' ')}</p>
      {outageCount > 0 && (
        <>
          <h4>
            {words.outages(toCount(outageCount))}
            {outages.length > mostOutages && <span class="hint"> {words.latest(toCount(mostOutages))}</span>}
          </h4>
          <ol class="outages">
            {outages.slice(0, mostOutages).map((outage) => (
              <OutageItem key={outage.startsAt} outage={outage} />
            ))}
          </ol>
        </>
      )}
    </section>
  );
};

interface OutageProps {
  outage: CheckAvailability['outages'][number];
  /** Link to the check, in lists of several checks. */
  children?: ComponentChildren;
}

/** Outage in a list, with its length, cause and incident. */
export const OutageItem = ({
  outage: { startsAt, endsAt, seconds, count, cause, incident },
  children,
}: OutageProps) => (
  <li>
    <time dateTime={startsAt}>{toFull(new Date(startsAt))}</time>
    <span>
      {children} {toDuration(seconds)}
      {endsAt === null && ` ${words.now}`}
      {count > 1 && ` (${words.several(toCount(count))})`}
    </span>
    {incident !== null && <a href={toHash(`/incidents/${incident}`)}>{text.incidents.named(toCount(incident))}</a>}
    {cause && <bdi class="hint">{cause}</bdi>}
  </li>
);

/**
 * Bar with a segment for each day, in the colour of the day's worst state. The legend counts the days of each colour.
 */
const DayBar = ({ days }: { days: readonly Day[] }) => {
  const counts = looks.map((look) => [look, days.filter((day) => lookOf(day) === look).length] as const);
  return (
    <>
      <svg
        class="days"
        role="img"
        aria-label={words.bar}
        viewBox={`0 0 ${days.length * 4 - 1} 24`}
        preserveAspectRatio="none"
      >
        {days.map((day, index) => (
          <rect key={day.day} class={`day-${lookOf(day)}`} x={index * 4} width={3} height={24}>
            <title>{describeDay(day)}</title>
          </rect>
        ))}
      </svg>
      <p class="day-ends hint">
        <span>{days[0]?.day}</span>
        <span>{words.today}</span>
      </p>
      <ul class="day-legend">
        {counts
          .filter(([, count]) => count > 0)
          .map(([look, count]) => (
            <li key={look}>
              <svg viewBox="0 0 1 1" aria-hidden="true">
                <rect class={`day-${look}`} width={1} height={1} />
              </svg>
              {words.looks[look](toCount(count))}
            </li>
          ))}
      </ul>
      <ul class="unseen">
        {days
          .filter((day) => day.down > 0 || lookOf(day) === 'maintenance')
          .map((day) => (
            <li key={day.day}>{describeDay(day)}</li>
          ))}
      </ul>
    </>
  );
};

const lookOf = ({ up, down, maintenance }: Day): (typeof looks)[number] => {
  if (down > 0) return down > 3600 ? 'down' : 'some';
  return maintenance > 0 ? 'maintenance' : up > 0 ? 'up' : 'unknown';
};

const describeDay = (day: Day): string => {
  const none = day.maintenance > 0 ? words.maintenanceDay : words.unknownDay;
  const share = day.percentage === null ? none : words.percent(toShare(day.percentage));
  return words.day(day.day, share, day.down > 0 ? words.down(toDuration(day.down)) : '');
};

/** Formats a percentage. Rounds down, so that a check with an outage never shows 100 %. */
export const toShare = (percentage: number): string => String(Math.floor(percentage * 100) / 100);

const toShares = ({ up, down, maintenance, unknown }: CheckAvailability): string[] => {
  const sum = up + down + maintenance + unknown;
  const share = (seconds: number): string => String(Math.round((1000 * seconds) / sum) / 10);
  return [
    ...(maintenance > 0 ? [words.maintenance(share(maintenance))] : []),
    ...(unknown > 0 ? [words.unknown(share(unknown))] : []),
  ];
};
