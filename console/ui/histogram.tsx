import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export interface Bar {
  /** Start and end in milliseconds. */
  from: number;
  to: number;
  /** From the bottom up. */
  parts: { color: string; count: number }[];
  /** The bar in words. */
  title: string;
}

interface Props {
  /** The whole in words, for screen readers. */
  label: string;
  bars: readonly Bar[];
  /** What is chosen, in milliseconds. */
  chosen: { from: number; to: number } | undefined;
  onChoose: (from: number, to: number) => void;
  onClear: () => void;
  /** The number at the top of the scale. */
  toTop: (count: number) => string;
  toTick: (time: number) => string;
}

const height = 88;
const ticks = 6;

/**
 * Stacked bars over time. Dragging over them, or a click on one, chooses their time; so do the arrow keys, with Shift for
 * several bars, and Enter. Escape clears the choice.
 */
export const Histogram = ({ label, bars, chosen, onChoose, onClear, toTop, toTick }: Props) => {
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
  const most = Math.max(1, ...bars.map(toTotal));
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
      <span class="top-count" aria-hidden="true">
        {toTop(most)}
      </span>
      <div
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, bars.length - 1)}
        aria-valuenow={drag.value?.to ?? Math.max(0, bars.length - 1)}
        aria-valuetext={(drag.value && bars[drag.value.to]?.title) ?? label}
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
        <svg aria-hidden="true" width={width.value} height={height}>
          {shown && <rect class="chosen" x={shown.first * step} y="0" width={shown.count * step} height={height} />}
          {bars.map((bar, index) => (
            <Stack key={bar.from} bar={bar} x={index * step} width={step} scale={(height - 4) / most} />
          ))}
        </svg>
      </div>
      <div
        class="ticks"
        aria-hidden="true"
        style={{ gridTemplateColumns: `repeat(${Math.max(1, bars.length)}, minmax(0, 1fr))` }}
      >
        {listTicks(bars.length).map((index) => (
          <span key={index} style={{ gridColumn: index + 1 }}>
            {toTick(bars[index]?.from ?? 0)}
          </span>
        ))}
      </div>
    </div>
  );
};

const Stack = ({ bar, x, width, scale }: { bar: Bar; x: number; width: number; scale: number }) => {
  let y = height;
  const gap = width > 4 ? 1 : 0;
  return (
    <g>
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

/** The bar that a key goes to; undefined for other keys. */
const toNext = (key: string, index: number, last: number): number | undefined => {
  const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last }[key];
  return next === undefined ? undefined : Math.max(0, Math.min(last, next));
};

const toTotal = ({ parts }: Bar): number => parts.reduce((sum, { count }) => sum + count, 0);

const toSpan = ({ from, to }: { from: number; to: number }) => ({
  first: Math.min(from, to),
  count: Math.abs(to - from) + 1,
});

/** The bars that lie in the chosen time. */
const findSpan = (bars: readonly Bar[], chosen: Props['chosen']) => {
  if (!chosen) return undefined;
  const first = bars.findIndex(({ to }) => to > chosen.from);
  const count = bars.filter(({ from, to }) => to > chosen.from && from < chosen.to).length;
  return first < 0 || count === 0 ? undefined : { first, count };
};

/** The bars below which there is a time. */
const listTicks = (count: number): number[] =>
  Array.from({ length: Math.min(ticks, count) }, (_, index) => Math.floor((index * count) / ticks));
