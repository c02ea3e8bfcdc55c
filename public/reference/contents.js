import { create, createButton } from '../ui/element.js';
import { toBreakable } from './route-list.js';

/**
 * One group of the list of contents: a link to it with a button that shows and hides the links to its routes. Until the
 * user decides, they are shown while the group is being read or filtered.
 */
export const createContentsGroup = ({ id, base, profile, routes }) => {
  const rows = new Map(routes.map((route) => [route.id, createRow(route)]));
  const list = create('ul', { id: `contents-${id}` }, ...rows.values());
  const link = create('a', { href: `#${id}` }, profile, ...(base === '/' ? [] : [' ', create('code', {}, base)]));
  const name = base === '/' ? profile : `${profile} on ${base}`;
  const labels = { 'aria-label': `Routes of ${name}`, 'aria-controls': list.id };
  let chosen;
  let isRead = false;
  let isFiltered = false;
  const render = () => {
    list.hidden = !(chosen ?? (isRead || isFiltered));
    toggle.setAttribute('aria-expanded', String(!list.hidden));
  };
  const toggle = createButton({ class: 'toggle', ...labels }, () => {
    chosen = list.hidden;
    render();
  });
  render();
  const element = create('li', {}, create('div', { class: 'group-line' }, toggle, link), list);
  return {
    element,
    /** Marks the group that is being read. */
    read: (isNow) => {
      isRead = isNow;
      mark(link, isNow);
      render();
    },
    /** Marks the route that was opened last, if it is one of this group; returns its link. */
    open: (opened) => {
      for (const [routeId, row] of rows) mark(row.firstChild, routeId === opened);
      return rows.get(opened)?.firstChild;
    },
    /** Shows only the routes with these ids, all of which match the filter if there is one. */
    filter: (shown, isNow) => {
      for (const [routeId, row] of rows) row.hidden = !shown.has(routeId);
      element.hidden = shown.size === 0;
      chosen = undefined;
      isFiltered = isNow;
      render();
    },
  };
};

const createRow = ({ id, method, path }) => {
  const verb = create('span', { class: `method method-${method.toLowerCase()}` }, method);
  return create('li', {}, create('a', { href: `#${id}` }, verb, ' ', create('code', {}, ...toBreakable(path))));
};

const mark = (link, isCurrent) => {
  if (isCurrent) link.setAttribute('aria-current', 'location');
  else link.removeAttribute('aria-current');
};
