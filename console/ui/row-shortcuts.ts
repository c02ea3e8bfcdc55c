/** Moves the focus to the link or button of the next or previous row, for the arrow keys. */
export const focusRow = (event: KeyboardEvent): void => {
  if (!['ArrowDown', 'ArrowUp'].includes(event.key) || !(event.target instanceof HTMLElement)) return;
  if (event.target.matches('input, select, textarea')) return;
  const moved = moveFocus(event.target.closest('tr'), event.key === 'ArrowDown');
  if (moved) event.preventDefault();
};

/** Focuses the first link or button of the next or previous row, for the j and k keys. */
export const stepRow = (isForward: boolean): void => {
  const row = document.activeElement?.closest('tr');
  if (row) moveFocus(row, isForward);
  else findTarget(document.querySelector('main tbody tr:not(.gap)'))?.focus();
};

const moveFocus = (row: Element | null, isForward: boolean): boolean => {
  const next = isForward ? row?.nextElementSibling : row?.previousElementSibling;
  if (row && next?.matches('.gap')) {
    // The row was scrolled out of view. Its neighbours are rendered after scrolling back.
    row.scrollIntoView({ block: 'center' });
    requestAnimationFrame(() => requestAnimationFrame(() => focusRowBeside(row, isForward)));
    return true;
  }
  return focusRowBeside(row, isForward);
};

const focusRowBeside = (row: Element | null, isForward: boolean): boolean => {
  const target = findTarget(isForward ? row?.nextElementSibling : row?.previousElementSibling);
  target?.focus();
  // Scrolls further because the page and table headers cover the top.
  target?.closest('tr')?.scrollIntoView({ block: 'nearest' });
  return target !== undefined;
};

const findTarget = (row: Element | null | undefined): HTMLElement | undefined =>
  row?.querySelector<HTMLElement>('a[href], button') ?? undefined;

/** True if the element accepts typed text. Keys are then not shortcuts. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type=checkbox]), select, textarea, [contenteditable]');
