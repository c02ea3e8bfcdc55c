import { create, toInline } from './element.js';
import { toCommand } from './routes.js';

const accessWords = { open: 'open', token: 'token', admin: 'Admin' };

const reasons = {
  200: 'OK',
  201: 'Created',
  204: 'No content',
  400: 'Bad request',
  401: 'No valid token',
  403: 'Not allowed',
  404: 'Not found',
  413: 'Too large',
  429: 'Too many attempts',
  500: 'Failed',
  503: 'Unavailable',
  default: 'Any other error',
};

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

/** A link to a group, for the list of contents. */
export const createGroupLink = ({ id, base, profile }) =>
  create('a', { href: `#${id}` }, profile, ...(base === '/' ? [] : [' ', create('code', {}, base)]));

const createRoute = (route, server) => {
  const { method, path, summary, access } = route;
  return create(
    'details',
    { class: 'route' },
    create(
      'summary',
      {},
      create('span', { class: `method method-${method.toLowerCase()}` }, method),
      ' ',
      create('code', { class: 'path' }, path),
      ' ',
      create('span', { class: 'does' }, ...toInline(summary)),
      ' ',
      create('span', { class: `access access-${access}` }, accessWords[access]),
    ),
    createDetail(route, server),
  );
};

const createDetail = (route, server) =>
  create(
    'div',
    { class: 'detail' },
    ...createFields('Path parameters', route.inPath),
    ...createFields('Query parameters', route.inQuery),
    ...createFields('Request body', route.inBody),
    create('h4', {}, 'Responses'),
    create('dl', {}, ...route.answers.map((answer) => createAnswer(answer))),
    create('h4', {}, 'Example'),
    create('pre', {}, create('code', {}, toCommand(route, server))),
  );

const createFields = (title, fields) =>
  fields.length === 0 ? [] : [create('h4', {}, title), create('dl', {}, ...fields.map((field) => createField(field)))];

const createField = ({ name, type, isRequired, rules, description }) => {
  const need = isRequired ? create('span', { class: 'required' }, 'required') : 'optional';
  const dd = create('dd', {}, create('code', {}, type), ' ', need, ...rules.map((rule) => `, ${rule}`));
  if (description) dd.append(create('span', { class: 'about' }, ...toInline(description)));
  return create('div', {}, create('dt', {}, create('code', {}, name)), dd);
};

const createAnswer = ({ status, shape }) => {
  const dd = create('dd', {}, reasons[status] ?? '');
  if (shape) dd.append(' ', create('code', {}, shape));
  return create('div', {}, create('dt', {}, create('code', {}, status)), dd);
};
