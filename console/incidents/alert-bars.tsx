import type { IncidentAlert } from 'signalbox/client';
import { toCount, toTime } from '../format.ts';
import { text } from '../strings/index.ts';

const most = 60;
const height = 40;

/** Histogram of the incident's alerts, from the first to the last. */
export const AlertBars = ({ alerts }: { alerts: readonly IncidentAlert[] }) => {
  const times = alerts.flatMap(({ time }) => (time ? [Date.parse(time)] : []));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const step = Math.max(1, (last - first + 1) / most);
  const counts = Array.from({ length: most }, () => 0);
  for (const time of times) {
    const index = Math.min(most - 1, Math.floor((time - first) / step));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  const highest = Math.max(...counts);
  return (
    <svg
      class="alert-bars"
      viewBox={`0 0 ${most * 4} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={text.incidents.alertsOf(toCount(times.length), toTime(first), toTime(last))}
    >
      {counts.map((count, index) => {
        const size = count === 0 ? 1 : Math.max(3, (count / highest) * height);
        return <rect key={index} x={index * 4} y={height - size} width={3} height={size} />;
      })}
    </svg>
  );
};
