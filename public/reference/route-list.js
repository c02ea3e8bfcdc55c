import { create, toInline } from '../ui/element.js';
import { createDetail } from './route-detail.js';

const accessWords = { open: 'open', token: 'token', admin: 'Admin' };

/** A section for one profile on one base path, and what the filter needs: each route's element and its text. */
export const createGroup = ({ id, base, profile, description, routes }, server) => {
  const entries = routes.map((route) => ({ element: createRoute(route, server), text: route.text }));
  const heading = create('h3', { id: `title-${id}` }, profile);
  if (base !== '/') heading.append(' ', create('span', { class: 'base' }, 'on ', create('code', {}, base)));
  const section = create('section', { class: 'group', id, 'aria-labelledby': `title-${id}` }, heading);
  if (description) section.append(create('p', { class: 'about' }, ...toInline(description)));
  section.append(create('div', { class: 'rows' }, ...entries.map(({ element }) => element)));
  return { section, entries };
};

const createRoute = (route, server) => {
  const { id, method, path, summary, access } = route;
  const line = create(
    'summary',
    {},
    create('span', { class: `method method-${method.toLowerCase()}` }, method),
    ' ',
    create('code', { class: 'path' }, ...toBreakable(path)),
    ' ',
    create('span', { class: 'does' }, ...toInline(summary)),
    ' ',
    create('span', { class: `access access-${access}` }, accessWords[access]),
  );
  const element = create('details', { class: 'route', id }, line, createDetail(route, server));
  // Opening a route puts it into the address, ready to be copied, without a step in the history.
  line.addEventListener('click', () => {
    if (!element.open) history.replaceState(history.state, '', `#${id}`);
  });
  return element;
};

/** Long paths break after a slash. */
export const toBreakable = (path) => path.split(/(?<=\/)/).flatMap((part) => [create('wbr'), part]);
