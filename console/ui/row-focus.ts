import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

type Key = string | number;

interface RowFocus {
  /** Index of the focused row. This row stays rendered at any scroll position. */
  focused: number | undefined;
  /** Handlers for the element around the rows. Each row has its key in the `data-row` attribute. */
  handlers: { onFocusIn: (event: FocusEvent) => void; onFocusOut: (event: FocusEvent) => void };
}

/**
 * Keeps the focus on a record even if the record moves within or between lists. If the record no longer exists, focuses
 * the first control of the row that took its place, so that pressing the same key again does not delete that row, too.
 */
export const useRowFocus = (list: RefObject<HTMLElement | null>, keys: readonly Key[]): RowFocus => {
  const [key, setKey] = useState<string | undefined>(undefined);
  const last = useRef<{ element: HTMLElement; index: number } | undefined>(undefined);
  // From here to the layout effect, elements lose focus only if they are moved or removed.
  const isRendering = useRef(true);
  isRendering.current = true;
  const found = key === undefined ? -1 : keys.findIndex((each) => String(each) === key);
  const focused = found < 0 ? undefined : found;
  useLayoutEffect(() => {
    isRendering.current = false;
    if (key === undefined || !last.current) return;
    const { element, index } = last.current;
    if (focused !== undefined) last.current.index = focused;
    if (document.activeElement !== document.body) return;
    if (element.isConnected) return element.focus({ preventScroll: true });
    if (focused !== undefined) return;
    setKey(undefined);
    const moved = document.querySelector<HTMLElement>(`main ${toSelector(key)}`);
    if (moved) moved.querySelector<HTMLElement>(element.matches('select') ? 'select' : controls)?.focus();
    else focusNear(list.current, keys[Math.min(index, keys.length - 1)]);
  });
  return {
    focused,
    handlers: {
      onFocusIn: ({ target }) => {
        if (!(target instanceof HTMLElement)) return;
        const name = target.closest<HTMLElement>('[data-row]')?.dataset['row'];
        last.current = { element: target, index: keys.findIndex((each) => String(each) === name) };
        setKey(name);
      },
      onFocusOut: ({ relatedTarget }) => {
        const isInside = relatedTarget instanceof Node && list.current?.contains(relatedTarget);
        // An element keeps its focus while the window does not have the focus.
        if (!isInside && !isRendering.current && document.hasFocus()) setKey(undefined);
      },
    },
  };
};

const controls = 'a[href], button';

const toSelector = (key: Key): string => `[data-row="${CSS.escape(String(key))}"]`;

const focusNear = (list: HTMLElement | null, key: Key | undefined): void => {
  const row = key === undefined ? undefined : list?.querySelector(toSelector(key));
  const target = row?.querySelector<HTMLElement>(controls) ?? document.querySelector<HTMLElement>('main');
  target?.focus({ preventScroll: true });
};
