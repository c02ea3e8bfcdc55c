import type { AvailabilityList } from 'signalbox/client';
import { client } from '../api.ts';
import { serverNow } from '../clock.ts';
import { toCount, toDuration, toFull } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { place, setParams, toHash } from '../router.ts';
import type { ScreenView } from '../screen.ts';
import { availabilityTexts as words } from '../strings/availability.ts';
import { OutageItem, toShare } from '../ui/availability.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { toTyped, zone } from '../zone.ts';
import { addMonths, readMonth, startOfMonth, toMonthName } from './months.ts';

type Check = AvailabilityList['data'][number];

/** Maximum number of outages that the list has of each check. */
const mostOutages = 20;

/** Printable report of a month: percentages and outages of all checks. */
const AvailabilityScreen = () => {
  const now = toTyped(serverNow());
  const month = readMonth(place.value.params['month'], now);
  const [start, end] = [startOfMonth(month), startOfMonth(addMonths(month, 1))];
  const query = {
    from: new Date(start).toISOString(),
    until: new Date(end).toISOString(),
    timeZone: zone.value,
  };
  const load = (signal: AbortSignal) => client.listAvailability(query, { signal });
  const { value, error, reload } = useResource(load, { key: `${month} ${zone.value}` });
  return (
    <div class="report">
      <div class="actions">
        <IconButton
          icon="back"
          label={toMonthName(addMonths(month, -1))}
          onClick={() => setParams({ month: addMonths(month, -1) })}
        />
        {addMonths(month, 1) <= now.slice(0, 7) && (
          <IconButton
            icon="next"
            label={toMonthName(addMonths(month, 1))}
            onClick={() => setParams({ month: addMonths(month, 1) })}
          />
        )}
        <IconButton icon="copy" label={words.print} kind="primary" onClick={() => print()} />
      </div>
      <h2>{toMonthName(month)}</h2>
      {error || !value ? <Unloaded error={error} reload={reload} lines={6} /> : <Report report={value} />}
    </div>
  );
};

const Report = ({ report: { data, from, until, timeZone } }: { report: AvailabilityList }) => {
  const outages = data.flatMap((check) => check.outages.map((outage) => ({ check, outage })));
  const count = data.reduce((sum, { outageCount }) => sum + outageCount, 0);
  const listed = outages.reduce((sum, { outage }) => sum + outage.count, 0);
  outages.sort((one, other) => (one.outage.startsAt < other.outage.startsAt ? -1 : 1));
  if (data.length === 0) return <p>{words.noChecks}</p>;
  return (
    <>
      <p class="hint">
        {words.range(toFull(new Date(from)), toFull(new Date(until)), timeZone)} {words.rule}
      </p>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">{words.check}</th>
            <th scope="col" class="end">
              {words.share}
            </th>
            <th scope="col" class="end">
              {words.downTime}
            </th>
            <th scope="col" class="end wide-only">
              {words.outageCount}
            </th>
            <th scope="col" class="end wide-only">
              {words.looksOf.maintenance}
            </th>
            <th scope="col" class="end wide-only">
              {words.looksOf.unknown}
            </th>
          </tr>
        </thead>
        <tbody>
          {data.map((check) => (
            <Row key={`${check.kind} ${check.name}`} check={check} />
          ))}
        </tbody>
      </table>
      <h3>
        {words.outages(toCount(count))}
        {listed < count && <span class="hint"> {words.latestOfEach(toCount(mostOutages))}</span>}
      </h3>
      <ol class="outages">
        {outages.map(({ check, outage }) => (
          <OutageItem key={`${check.kind} ${check.name} ${outage.startsAt}`} outage={outage}>
            <CheckLink check={check} />
          </OutageItem>
        ))}
      </ol>
    </>
  );
};

/** Screen for each kind of check. */
const screens = { watch: 'watches', heartbeat: 'heartbeats', host: 'hosts' };

const CheckLink = ({ check: { kind, name } }: { check: Check }) => (
  <a href={toHash(`/${screens[kind]}/${encodeURIComponent(name)}`)}>{name}</a>
);

const Row = ({ check }: { check: Check }) => {
  const { percentage, up, down, maintenance, unknown, outageCount } = check;
  const sum = Math.max(1, up + down + maintenance + unknown);
  const toPart = (seconds: number): string =>
    seconds === 0 ? '' : words.percent(String(Math.round((1000 * seconds) / sum) / 10));
  return (
    <tr>
      <td>
        <CheckLink check={check} />
      </td>
      <td class="end">{percentage === null ? words.noReading : words.percent(toShare(percentage))}</td>
      <td class="end">{down === 0 ? '' : toDuration(down)}</td>
      <td class="end wide-only">{outageCount === 0 ? '' : toCount(outageCount)}</td>
      <td class="end wide-only">{toPart(maintenance)}</td>
      <td class="end wide-only">{toPart(unknown)}</td>
    </tr>
  );
};

export const availabilityView: ScreenView = { Screen: AvailabilityScreen };
