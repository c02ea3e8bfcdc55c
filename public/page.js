import { isMatch, toGroups } from './openapi/routes.js';
import { createContentsGroup } from './reference/contents.js';
import { createGroup } from './reference/route-list.js';
import { startLogin } from './try/login.js';
import { create } from './ui/element.js';

/** Milliseconds to wait for the server's response. */
const patience = 10_000;

const find = (id) => document.getElementById(id);
const parts = {
  version: find('version'),
  filter: find('filter'),
  words: find('words'),
  status: find('status'),
  failure: find('failure'),
  reason: find('reason'),
  retry: find('retry'),
  contents: find('contents'),
  list: find('list'),
};

/** The listed groups: `{ section, contents, entries: [{ element, text }] }`. */
let groups = [];

const load = async () => {
  parts.failure.hidden = true;
  parts.status.textContent = 'Loading the routes…';
  try {
    showRoutes(await fetchDocument());
  } catch (error) {
    showFailure(error);
  }
};

const fetchDocument = async () => {
  const response = await fetch('../openapi.json', { signal: AbortSignal.timeout(patience) }).catch(() => {
    throw new Error('The server does not respond. Is it still running?');
  });
  if (!response.ok) throw new Error(`The server responded with status ${response.status}.`);
  return response.json().catch(() => {
    throw new Error('The response was incomplete or not JSON.');
  });
};

const showRoutes = (openApi) => {
  const server = new URL('..', document.baseURI).href.replace(/\/$/, '');
  const found = toGroups(openApi);
  startLogin(
    found.flatMap(({ routes }) => routes),
    server,
  );
  groups = found.map((group) => ({ ...createGroup(group, server), contents: createContentsGroup(group) }));
  parts.version.textContent = openApi.info?.version ?? '';
  parts.list.replaceChildren(...groups.map(({ section }) => section));
  parts.contents.replaceChildren(create('ul', {}, ...groups.map(({ contents }) => contents.element)));
  parts.contents.hidden = groups.length === 0;
  parts.filter.hidden = groups.length === 0;
  applyFilter();
  followReading();
  goToHash('instant');
};

const showFailure = ({ message }) => {
  parts.status.textContent = '';
  parts.reason.textContent = message;
  parts.failure.hidden = false;
};

const applyFilter = () => {
  const words = parts.words.value.trim();
  let shown = 0;
  let total = 0;
  for (const { section, contents, entries } of groups) {
    for (const { element, text } of entries) element.hidden = !isMatch(text, words);
    const left = entries.filter(({ element }) => !element.hidden);
    section.hidden = left.length === 0;
    contents.filter(new Set(left.map(({ element }) => element.id)), words !== '');
    shown += left.length;
    total += entries.length;
  }
  parts.status.textContent = countInWords(shown, total);
};

const countInWords = (shown, total) => {
  if (total === 0) return 'No profile is mounted: there are no routes.';
  if (shown === 0) return `No match in ${total} routes. Press Escape to see them all.`;
  return shown === total ? `${total} routes` : `${shown} of ${total} routes`;
};

/** Goes to the group or route in the address and opens the route. The browser looks for it before it exists. */
const goToHash = (behavior) => {
  const target = find(location.hash.slice(1));
  if (!parts.list.contains(target)) return;
  if (target.hidden || target.closest('[hidden]')) clearFilter();
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.querySelector('summary').focus({ preventScroll: true });
    markOpened(target.id);
  }
  target.scrollIntoView({ behavior });
};

/** Marks the group at the top of the window in the list of contents. */
const followReading = () => {
  const mark = (target) => {
    for (const { section, contents } of groups) contents.read(section === target);
  };
  const onCrossing = (entries) => {
    const reached = entries.find(({ isIntersecting }) => isIntersecting);
    if (reached) mark(reached.target);
  };
  const observer = new IntersectionObserver(onCrossing, { rootMargin: '-15% 0px -85% 0px' });
  for (const { section } of groups) observer.observe(section);
  mark(groups[0]?.section);
};

/** Marks an opened route in the list of contents, and scrolls the list to it. */
const markOpened = (id) => {
  const link = groups.map(({ contents }) => contents.open(id)).find(Boolean);
  const [{ top, bottom } = {}] = link?.getClientRects() ?? [];
  const box = parts.contents.getBoundingClientRect();
  if (top < box.top || bottom > box.bottom) parts.contents.scrollTop += top - box.top - box.height / 2;
};

const focusFirstMatch = () => {
  parts.list.querySelector('details:not([hidden]) summary')?.focus();
};

const clearFilter = () => {
  parts.words.value = '';
  applyFilter();
};

parts.words.addEventListener('input', applyFilter);
parts.words.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') clearFilter();
  if (event.key !== 'Enter') return;
  // Otherwise the same key press would open the route that gets the focus.
  event.preventDefault();
  focusFirstMatch();
});
parts.retry.addEventListener('click', async () => {
  // The button that has the focus is about to disappear.
  find('routes').focus();
  await load();
});
// This event does not bubble.
parts.list.addEventListener('toggle', ({ target }) => target.open && markOpened(target.id), { capture: true });
addEventListener('hashchange', () => goToHash('auto'));
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input:not([type="radio"]), select, textarea') || find('login-dialog').open;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  parts.words.focus();
});

await load();
