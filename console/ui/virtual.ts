import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Rows `[first, last)` of a long list near the viewport. */
export interface Range {
  first: number;
  last: number;
}

/** Number of rows rendered above and below the viewport. Prevents gaps while scrolling. */
const margin = 8;
/** Maximum number of printed rows. */
const printed = 1000;

const isPrinting = signal(false);
addEventListener('beforeprint', () => {
  isPrinting.value = true;
});
addEventListener('afterprint', () => {
  isPrinting.value = false;
});

/** Returns the rows near the viewport in a list that scrolls with the page. All rows have the same height in pixels. */
export const useVirtualRows = (element: RefObject<HTMLElement | null>, count: number, height: number): Range => {
  const [range, setRange] = useState<Range>({ first: 0, last: 60 });
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const top = element.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / height) - margin);
      const last = Math.ceil((innerHeight - top) / height) + margin;
      // Moves in steps of eight rows, so that most scroll events change nothing.
      const next = { first: first - (first % 8), last: last + (8 - (last % 8)) };
      setRange((before) => (before.first === next.first && before.last === next.last ? before : next));
    };
    const onScroll = () => {
      frame ||= requestAnimationFrame(measure);
    };
    measure();
    addEventListener('scroll', onScroll, { passive: true });
    addEventListener('resize', onScroll);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', onScroll);
      removeEventListener('resize', onScroll);
    };
  }, [element, height]);
  if (isPrinting.value) return { first: 0, last: Math.min(count, printed) };
  const last = Math.min(count, Math.max(0, range.last));
  return { first: Math.max(0, Math.min(range.first, last)), last };
};

/** Row index, or a gap of rows that are not rendered. */
type Piece = number | { gap: number; key: string };

/** Lists the pieces to render: the rows in the range, the focused row, and the gaps between them. */
export const listPieces = ({ first, last }: Range, count: number, focused: number | undefined): Piece[] => {
  const indexes = Array.from({ length: last - first }, (_, index) => first + index);
  if (focused !== undefined && focused < first) indexes.unshift(focused);
  if (focused !== undefined && focused >= last) indexes.push(focused);
  const pieces: Piece[] = [];
  let next = 0;
  for (const index of indexes) {
    if (index > next) pieces.push({ gap: index - next, key: next === 0 ? 'above' : 'between' });
    pieces.push(index);
    next = index + 1;
  }
  if (count > next) pieces.push({ gap: count - next, key: 'below' });
  return pieces;
};

const follow = (query: string) => {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener('change', () => {
    matches.value = media.matches;
  });
  return matches;
};

/** True on phones. */
export const isNarrow = follow('(max-width: 47.99rem)');

/**
 * True in windows that are too narrow for table columns next to the navigation. Rows are then shown as blocks of lines.
 */
export const isMedium = follow('(max-width: 59.99rem)');

/** True in windows that are too narrow for all columns of a table. */
export const isTight = follow('(max-width: 79.99rem)');
