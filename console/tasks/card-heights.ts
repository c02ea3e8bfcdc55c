import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import type { Task } from './calls.ts';

/** Pixels of a card without its title, with the gap below it; and of a line of the title. */
const frame = 58;
const lineHeight = 20;
const mostLines = 3;
/** Pixels beside a title within its column. */
const inset = 20;
/** Words do not fill the lines that they are broken into; this share of them is counted on. */
const filled = 0.8;

/** Widths of titles on one line; a changed task is another object. */
const widths = new WeakMap<Task, number>();
const context = document.createElement('canvas').getContext('2d');

/** Where the cards of a column are, and how many lines of a title fit on one. */
export interface CardHeights {
  /** The top of each card in pixels and, last, the end of the column. */
  tops: Float64Array;
  toLines(task: Task): number;
}

/** Heights for cards in an element, from the widths of their titles: nothing has to be rendered for them. */
export const useCardHeights = (element: RefObject<HTMLElement | null>, tasks: readonly Task[]): CardHeights => {
  const room = useSignal(0);
  useLayoutEffect(() => {
    const list = element.current;
    if (!list) return;
    // The whole of `font` is empty where one of its parts has no short form.
    const { fontSize, fontFamily } = getComputedStyle(list);
    if (context) context.font = `${fontSize} ${fontFamily}`;
    const measure = () => {
      room.value = list.clientWidth - inset;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }, []);
  return useMemo(() => layOut(tasks, room.value), [tasks, room.value]);
};

const layOut = (tasks: readonly Task[], room: number): CardHeights => {
  const toLines = (task: Task): number => {
    if (room <= 0) return 1;
    const width = measure(task);
    if (width <= room) return 1;
    return Math.min(mostLines, Math.ceil(width / (room * filled)));
  };
  const tops = new Float64Array(tasks.length + 1);
  for (const [index, task] of tasks.entries())
    tops[index + 1] = (tops[index] ?? 0) + frame + toLines(task) * lineHeight;
  return { tops, toLines };
};

const measure = (task: Task): number => {
  const known = widths.get(task);
  if (known !== undefined) return known;
  const width = context?.measureText(task.Title).width ?? 0;
  widths.set(task, width);
  return width;
};
