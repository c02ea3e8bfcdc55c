import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface Bar {
  /** Start and end in milliseconds. */
  from: number;
  to: number;
  /** Stacked parts, from the bottom up. */
  parts: { color: string; count: number }[];
  /** Description of the bar in words. */
  title: string;
}

interface Props {
  /** Description of the histogram in words, for screen readers. */
  label: string;
  bars: readonly Bar[];
  /** Chosen time range in milliseconds. */
  chosen: { from: number; to: number } | undefined;
  onChoose: (from: number, to: number) => void;
  onClear: () => void;
  toCount: (count: number) => string;
  /** Labels of the time axis, ascending. */
  ticks: readonly { time: number; label: string }[];
}

const height = 88;
/** Minimum pixels between labels, and between a label and the end of the axis. */
const labelWidth = 60;

/**
 * Stacked bars over time. A time range is chosen by dragging or clicking, or with the arrow keys (with Shift for
 * several bars) followed by Enter. Escape clears the choice.
 */
export const Histogram = ({ label, bars, chosen, onChoose, onClear, toCount, ticks }: Props) => {
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const drag = useSignal<{ from: number; to: number } | undefined>(undefined);
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      width.value = entry?.contentRect.width ?? 0;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const step = width.value / Math.max(1, bars.length);
  const top = toTop(Math.max(1, ...bars.map(toTotal)));
  const toIndex = ({ clientX, currentTarget }: PointerEvent) => {
    const { left } = (currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(bars.length - 1, Math.floor((clientX - left) / step)));
  };
  const finish = () => {
    const { from, to } = drag.value ?? { from: -1, to: -1 };
    drag.value = undefined;
    const [first, last] = [bars[Math.min(from, to)], bars[Math.max(from, to)]];
    if (first && last) onChoose(first.from, last.to);
  };
  const handleKey = (event: KeyboardEvent) => {
    const { from, to } = drag.value ?? { from: bars.length, to: bars.length };
    if (event.key === 'Enter') finish();
    else if (event.key === 'Escape' && drag.value) drag.value = undefined;
    else if (event.key === 'Escape') onClear();
    else {
      const next = toNext(event.key, to, bars.length - 1);
      if (next === undefined) return;
      drag.value = { from: event.shiftKey && drag.value ? from : next, to: next };
    }
    event.preventDefault();
  };
  const shown = drag.value ? toSpan(drag.value) : findSpan(bars, chosen);
  return (
    <div ref={element} class="histogram">
      {[top, top / 2].map((count) => (
        <span
          key={count / top}
          class="scale"
          style={{ top: `${height - (count / top) * (height - 4)}px` }}
          aria-hidden="true"
        >
          {toCount(count)}
        </span>
      ))}
      <div
        role="listbox"
        tabIndex={0}
        aria-label={label}
        aria-multiselectable="true"
        aria-activedescendant={drag.value && `${id}-${drag.value.to}`}
        onKeyDown={handleKey}
        onBlur={() => {
          drag.value = undefined;
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.value = { from: toIndex(event), to: toIndex(event) };
        }}
        onPointerMove={(event) => {
          if (drag.value) drag.value = { ...drag.value, to: toIndex(event) };
        }}
        onPointerUp={finish}
        onPointerCancel={() => {
          drag.value = undefined;
        }}
      >
        <svg role="presentation" width={width.value} height={height}>
          {shown && <rect class="chosen" x={shown.first * step} y="0" width={shown.count * step} height={height} />}
          {bars.map((bar, index) => (
            <Stack
              key={bar.from}
              id={`${id}-${index}`}
              bar={bar}
              isChosen={shown !== undefined && index >= shown.first && index < shown.first + shown.count}
              x={index * step}
              width={step}
              scale={(height - 4) / top}
            />
          ))}
        </svg>
      </div>
      <div class="ticks" aria-hidden="true">
        {placeTicks(ticks, bars, width.value).map(({ left, label: written }) => (
          <span key={left} style={{ left: `${left}px` }}>
            {written}
          </span>
        ))}
      </div>
    </div>
  );
};

interface StackProps {
  id: string;
  bar: Bar;
  isChosen: boolean;
  x: number;
  width: number;
  scale: number;
}

const Stack = ({ id, bar, isChosen, x, width, scale }: StackProps) => {
  let y = height;
  const gap = width > 4 ? 1 : 0;
  return (
    <g id={id} role="option" aria-selected={isChosen} aria-label={bar.title}>
      <title>{bar.title}</title>
      <rect class="ground" x={x} y="0" width={width} height={height} />
      {bar.parts.map(({ color, count }) => {
        const tall = Math.max(2, count * scale);
        y -= tall;
        return <rect key={color} class={color} x={x} y={y} width={Math.max(1, width - gap)} height={tall} />;
      })}
    </g>
  );
};

/** Returns the index of the bar that a key moves to. Undefined for other keys. */
const toNext = (key: string, index: number, last: number): number | undefined => {
  const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last }[key];
  return next === undefined ? undefined : Math.max(0, Math.min(last, next));
};

const toTotal = ({ parts }: Bar): number => parts.reduce((sum, { count }) => sum + count, 0);

const toSpan = ({ from, to }: { from: number; to: number }) => ({
  first: Math.min(from, to),
  count: Math.abs(to - from) + 1,
});

/** Bars within the chosen time range. */
const findSpan = (bars: readonly Bar[], chosen: Props['chosen']) => {
  if (!chosen) return undefined;
  const first = bars.findIndex(({ to }) => to > chosen.from);
  const count = bars.filter(({ from, to }) => to > chosen.from && from < chosen.to).length;
  return first < 0 || count === 0 ? undefined : { first, count };
};

/** Returns a round maximum for the axis that is divisible by two. */
const toTop = (most: number): number => {
  const power = 10 ** Math.floor(Math.log10(most));
  return [2, 4, 6, 8, 10, 20].map((step) => step * power).find((each) => each >= most && each % 2 === 0) ?? most;
};

/** Places labels, with positions in pixels. Omits labels that have no room. */
const placeTicks = (ticks: Props['ticks'], bars: readonly Bar[], width: number) => {
  const [from = 0, to = 0] = [bars[0]?.from, bars.at(-1)?.to];
  const every = Math.max(1, Math.ceil((ticks.length * labelWidth) / Math.max(1, width)));
  return ticks
    .filter(({ time }, index) => time >= from && time < to && index % every === 0)
    .map(({ time, label }) => ({ label, left: ((time - from) / (to - from)) * width }))
    .filter(({ left }) => left <= width - labelWidth / 2);
};
