import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ShownPeriod } from './weeks.ts';

/** Granularity of a drawn range in milliseconds. */
const stepMs = 3_600_000;

/** Minimum distance in pixels that a pointer must move to draw a range. A shorter movement chooses a shift. */
const leastMove = 6;

interface Drawing {
  pointer: number;
  x: number;
  from: number;
  to: number;
}

/**
 * Draws a range across one or more weeks. `onDrawn` receives the range when the pointer is released. Escape or a second
 * pointer cancels the drawing.
 */
export const useRange = (isEnabled: boolean, onDrawn: (range: ShownPeriod) => void) => {
  const drawing = useSignal<Drawing | undefined>(undefined);
  const toTime = (event: PointerEvent): number | undefined => {
    const week = document
      .elementsFromPoint(event.clientX, event.clientY)
      .find((each): each is HTMLElement => each instanceof HTMLElement && each.dataset['start'] !== undefined);
    if (!week) return undefined;
    const { left, width } = week.getBoundingClientRect();
    const [start, end] = [Number(week.dataset['start']), Number(week.dataset['end'])];
    const share = Math.max(0, Math.min(1, (event.clientX - left) / width));
    return start + Math.round(((end - start) * share) / stepMs) * stepMs;
  };
  /** True until the click that follows the release of the pointer. */
  const isDrawn = useRef(false);
  const { value } = drawing;
  const cancel = (): void => {
    drawing.value = undefined;
  };
  return {
    /** Range drawn so far. */
    range: value && value.from !== value.to ? toSpan(value) : undefined,
    handlers: isEnabled
      ? {
          onPointerDown: (event: PointerEvent) => {
            isDrawn.current = false;
            const at = toTime(event);
            const isMouse = event.pointerType !== 'touch' && event.button === 0;
            drawing.value =
              at === undefined || !isMouse || drawing.value
                ? undefined
                : { pointer: event.pointerId, x: event.clientX, from: at, to: at };
          },
          onPointerMove: (event: PointerEvent) => {
            const known = drawing.peek();
            const at = known?.pointer === event.pointerId ? toTime(event) : undefined;
            if (!known || at === undefined || Math.abs(event.clientX - known.x) < leastMove) return;
            drawing.value = { ...known, x: Number.POSITIVE_INFINITY, to: at };
          },
          onPointerUp: () => {
            const known = drawing.peek();
            cancel();
            if (!known || known.from === known.to) return;
            isDrawn.current = true;
            onDrawn(toSpan(known));
          },
          onClickCapture: (event: MouseEvent) => {
            if (isDrawn.current) event.stopPropagation();
            isDrawn.current = false;
          },
          onPointerCancel: cancel,
          onPointerLeave: cancel,
        }
      : {},
    cancel,
  };
};

const toSpan = ({ from, to }: Pick<Drawing, 'from' | 'to'>): ShownPeriod => ({
  start: Math.min(from, to),
  end: Math.max(from, to),
});
