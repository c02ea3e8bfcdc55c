import { toCall, toStartValues } from '../openapi/call.js';
import { createTryPanel } from '../try/panel.js';
import { createCode, createCopyButton, toCodeParts } from '../ui/code.js';
import { create, createButton, createUnseen, toInline } from '../ui/element.js';
import { createFields, createTitle } from './fields.js';
import { createSampleBox } from './sample-box.js';

const accessHints = {
  open: 'No token needed.',
  token: 'Needs a token: `Authorization: Bearer TOKEN`.',
  admin: 'Needs the token of a user with the role Admin: `Authorization: Bearer TOKEN`.',
};

/** What an opened route shows: its fields and responses, how to call it, and a form to try it. */
export const createDetail = (route, server) => {
  const samples = createSampleBox(route, toCall(route, toStartValues(route), server));
  const tryIt = createTryIt(route, server, samples.show);
  const permalink = create(
    'a',
    { href: `#${route.id}` },
    'Permalink',
    createUnseen(` of ${route.method} ${route.path}`),
  );
  const access = create('p', { class: 'quiet' }, ...toInline(toAccessHint(route)));
  return create(
    'div',
    { class: 'detail' },
    create('div', { class: 'top' }, tryIt.button, access, permalink),
    tryIt.holder,
    create(
      'div',
      { class: 'sides' },
      create('div', { class: 'facts' }, ...createRequest(route), ...createResponses(route)),
      create('div', { class: 'calls' }, createTitle('Call'), samples.element, ...createResponseExample(route)),
    ),
  );
};

const toAccessHint = ({ access, takesKey, takesToken }) => {
  if (access === 'open') return takesToken ? 'No token needed, except for some of its data.' : accessHints.open;
  return `${accessHints[access]}${takesKey ? ' A key with the scope of the route works too.' : ''}`;
};

const createRequest = ({ inPath, inQuery, inBody, bodyTypes, example }) => [
  ...createFields('Path parameters', inPath),
  ...createFields('Query parameters', inQuery),
  ...createFields(Array.isArray(example) ? 'Request body, a list of' : 'Request body', inBody, {
    note: bodyTypes.map((type) => `\`${type}\``).join(' or '),
  }),
];

/** The fields of the response in full, and one line for each way to fail. */
const createResponses = ({ answers }) => {
  const good = answers.filter(({ status }) => isGood(status));
  const others = answers.filter(({ status }) => !isGood(status));
  return [
    ...good.flatMap((answer) => createGoodResponse(answer)),
    ...(others.length === 0 ? [] : [createTitle('Errors'), create('dl', {}, ...others.map(createError))]),
  ];
};

const createGoodResponse = (answer) => {
  const { status, reason, type, shape, fields } = answer;
  const note = `${reason} ${type && `\`${type}\``}`.trim();
  if (fields.length > 0) return createFields(`Response ${status}`, fields, { note, isResponse: true });
  const about = create('p', { class: 'quiet' }, ...(shape ? [create('code', {}, shape)] : ['No body.']));
  return [createTitle(`Response ${status}`, note), about];
};

const createError = ({ status, reason, shape, headers }) => {
  const dd = create('dd', {}, reason);
  if (shape) dd.append(' ', create('code', { class: 'quiet' }, shape));
  if (headers.length > 0)
    dd.append(create('span', { class: 'about' }, 'Header ', create('code', {}, headers.join(', '))));
  return create('div', {}, create('dt', {}, create('code', {}, status)), dd);
};

const createResponseExample = ({ method, path, answers }) => {
  const answer = answers.find(({ status }) => isGood(status));
  if (answer?.example === undefined) return [];
  const { example } = answer;
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  return [
    create(
      'div',
      { class: 'block' },
      create(
        'div',
        { class: 'bar' },
        createTitle('Example response'),
        createCopyButton('the example', () => text),
      ),
      createCode(`Example response of ${method} ${path}`, toCodeParts(text)),
    ),
  ];
};

/** A button that opens the form, which exists only once it is asked for. */
const createTryIt = (route, server, showCall) => {
  const id = `try-${route.id}`;
  const holder = create('div', { class: 'try', id, hidden: '' });
  const button = createButton(
    { class: 'primary', 'aria-expanded': 'false', 'aria-controls': id },
    () => {
      if (!holder.firstChild) holder.append(createTryPanel(route, server, showCall));
      holder.hidden = !holder.hidden;
      button.setAttribute('aria-expanded', String(!holder.hidden));
    },
    'Try it',
    createUnseen(` ${route.method} ${route.path}`),
  );
  return { button, holder };
};

const isGood = (status) => status.startsWith('2');
