/**
 * Minimum number of steps. A new watch or heartbeat starts with empty slots, so that its line is not stretched to look
 * long.
 */
const fewest = 24;
const height = 32;

interface Props {
  /** Description for screen readers and the tooltip. */
  label: string;
  /** Values. Null for unknown. */
  values: readonly (number | null)[];
  /** True for steps with a problem. */
  bad: readonly (boolean | null)[];
  /** Limits, drawn as dashed lines. The second limit is critical. */
  limits: readonly number[];
  /** Maximum of the axis. By default, based on values and limits. */
  top?: number | undefined;
  /** True for a strip of good and bad steps instead of a line. */
  isStrip: boolean;
}

/** Sparkline with limits, or a strip of good and bad steps over time. */
export const Spark = ({ label, values, bad, limits, top, isStrip }: Props) => {
  const count = Math.max(fewest, values.length);
  const left = count - values.length;
  const known = values.filter((value) => value !== null);
  const most = top ?? 1.1 * Math.max(1e-9, ...known, ...limits);
  const toY = (value: number): number => height - 1 - (Math.min(value, most) / most) * (height - 2);
  return (
    <svg class="spark" viewBox={`0 0 ${count} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      {left > 0 && <path class="spark-empty" d={toSlots(left)} />}
      {toSpans(bad).map(({ from, to, isBad }) => (
        <rect
          key={from}
          class={isBad ? 'spark-bad' : isStrip ? 'spark-good' : 'spark-none'}
          x={left + from}
          width={to - from}
          y={0}
          height={height}
        />
      ))}
      {!isStrip &&
        limits.map((limit, index) => (
          <line
            key={limit}
            class={index === 0 ? 'spark-limit' : 'spark-critical'}
            x1={0}
            x2={count}
            y1={toY(limit)}
            y2={toY(limit)}
          />
        ))}
      {!isStrip && <path class="spark-line" d={toPath(values, left, toY)} />}
    </svg>
  );
};

const toSlots = (count: number): string =>
  Array.from({ length: count }, (_, index) => `M${index} 0h.7v${height}h-.7z`).join('');

/** Groups of consecutive steps with the same state. */
const toSpans = (bad: Props['bad']): { from: number; to: number; isBad: boolean }[] => {
  const spans: { from: number; to: number; isBad: boolean }[] = [];
  for (const [index, isBad] of bad.entries()) {
    const last = spans.at(-1);
    if (isBad === null) continue;
    if (last?.to === index && last.isBad === isBad) last.to = index + 1;
    else spans.push({ from: index, to: index + 1, isBad });
  }
  return spans;
};

/** Returns the path of a line. Each step is as wide as its time, so that a single value is visible. */
const toPath = (values: Props['values'], left: number, toY: (value: number) => number): string => {
  let isOpen = false;
  const parts = values.map((value, index) => {
    if (value === null) {
      isOpen = false;
      return '';
    }
    const [x, y] = [left + index, toY(value).toFixed(1)];
    const begin = isOpen ? `L${x + 0.5} ${y}` : `M${x} ${y}`;
    const isLast = values[index + 1] === null || index === values.length - 1;
    isOpen = true;
    return begin + (isLast ? `L${x + 1} ${y}` : '');
  });
  return parts.join('');
};
