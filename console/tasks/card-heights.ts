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
/** Letters beside each other take at least one part in this of the widths that they have alone. */
const kerned = 1.04;

/** Where the cards of a column are, and how many lines the title of a task has. */
interface CardHeights {
  /** The top of each card in pixels and, last, the end of the column. */
  tops: Float64Array;
  toLines: (task: Task) => number;
}

/** Heights of the cards in an element, computed from the widths of letters: no card has to exist for that. */
export const useCardHeights = (element: RefObject<HTMLElement | null>, tasks: readonly Task[]): CardHeights => {
  const room = useSignal(0);
  const toLines = useMemo(() => createLineCounter(element.current, room.value), [room.value]);
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      room.value = Math.floor(entry?.contentRect.width ?? 0) - inset;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return useMemo(() => {
    const tops = new Float64Array(tasks.length + 1);
    let end = 0;
    for (const [index, task] of tasks.entries()) {
      end += frame + toLines(task) * lineHeight;
      tops[index + 1] = end;
    }
    return { tops, toLines };
  }, [tasks, toLines]);
};

/** Counts the lines of titles in the element's font. */
const createLineCounter = (element: Element | null, room: number): CardHeights['toLines'] => {
  const context = document.createElement('canvas').getContext('2d');
  if (!element || !context || room <= 0) return () => 1;
  // The short form `font` is empty where it cannot say everything.
  const { fontSize, fontFamily } = getComputedStyle(element);
  context.font = `${fontSize} ${fontFamily}`;
  const widths: number[] = [];
  const toWidth = (code: number): number => {
    widths[code] ??= context.measureText(String.fromCharCode(code)).width;
    return widths[code];
  };
  return ({ Title: title }) => {
    const lines = countLines(title, room, toWidth);
    // Letters that are set closer together may save the second line.
    const isClose = lines === 2 && countLines(title, room * kerned, toWidth) === 1;
    return isClose && context.measureText(title).width <= room ? 1 : lines;
  };
};

/** Lines of a text that is broken between words, and within words that are longer than a line; no more than are shown. */
const countLines = (text: string, room: number, toWidth: (code: number) => number): number => {
  let [lines, before, word] = [1, 0, 0];
  for (let index = 0; index < text.length && lines < mostLines; index += 1) {
    const width = toWidth(text.charCodeAt(index));
    if (text[index] === ' ') {
      before += word + width;
      word = 0;
      continue;
    }
    word += width;
    if (before + word <= room) continue;
    lines += 1;
    if (before === 0) word = width;
    before = 0;
  }
  return lines;
};
