import { create } from '../ui/element.js';
import { isJson } from '../ui/json.js';

/** Lines of the field for the body. */
const fewestLines = 4;
const mostLines = 18;

/**
 * The fields of the form for a route: `{ elements, isEmpty, read(), write(values) }`, with values as `toStartValues`
 * returns them. `onChange` is called after each change.
 */
export const createInputs = (route, values, onChange) => {
  const inPath = createParameters(route, 'inPath', { isRequired: true });
  const inQuery = createParameters(route, 'inQuery');
  const body = values.body === '' && route.inBody.length === 0 ? undefined : createBody(route);
  const elements = [...inPath, ...inQuery].map(({ element }) => element);
  const fill = (next) => {
    for (const { name, input } of inPath) input.value = next.inPath[name];
    for (const { name, input } of inQuery) input.value = next.inQuery[name];
    body?.write(next.body);
  };
  fill(values);
  for (const { input } of [...inPath, ...inQuery, ...(body ? [body] : [])]) input.addEventListener('input', onChange);
  return {
    elements: [
      ...(elements.length > 0 ? [create('div', { class: 'parameters' }, ...elements)] : []),
      ...(body ? [body.element] : []),
    ],
    isEmpty: elements.length === 0 && !body,
    read: () => ({ inPath: toRecord(inPath), inQuery: toRecord(inQuery), body: body?.input.value ?? '' }),
    write: (next) => {
      fill(next);
      onChange();
    },
  };
};

const toRecord = (fields) => Object.fromEntries(fields.map(({ name, input }) => [name, input.value.trim()]));

const createParameters = (route, place, { isRequired = false } = {}) =>
  route[place].map((field) => {
    const input = field.choices ? createSelect(field.choices) : createText(field);
    input.id = `try-${route.id}-${place}-${field.name}`;
    input.required = isRequired || field.isRequired;
    const need = input.required ? [create('span', { class: 'quiet' }, 'required')] : [];
    const label = create('label', { for: input.id }, create('code', {}, field.name), ...need);
    return { name: field.name, input, element: create('div', { class: 'field' }, label, input) };
  });

const createText = ({ example, type }) =>
  create('input', {
    type: 'text',
    inputmode: type === 'integer' ? 'numeric' : undefined,
    placeholder: example === undefined || example === '' ? undefined : `e.g. ${example}`,
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
  });

const createSelect = (choices) =>
  create(
    'select',
    {},
    create('option', { value: '' }, 'any'),
    ...choices.map((choice) => create('option', { value: choice }, choice)),
  );

const createBody = ({ id, bodyTypes }) => {
  const input = create('textarea', { id: `try-${id}-body`, spellcheck: 'false', autocapitalize: 'none' });
  const problem = create('p', { class: 'problem', id: `try-${id}-problem`, 'aria-live': 'polite' });
  input.setAttribute('aria-describedby', problem.id);
  const check = () => {
    problem.textContent =
      input.value === '' || isJson(input.value) ? '' : 'This is not valid JSON. It is sent as it is.';
  };
  input.addEventListener('input', check);
  const label = create('label', { for: input.id }, 'Body ', create('code', { class: 'quiet' }, bodyTypes[0] ?? ''));
  return {
    input,
    element: create('div', { class: 'field' }, label, input, problem),
    write: (text) => {
      input.value = text;
      input.rows = Math.min(Math.max(text.split('\n').length, fewestLines), mostLines);
      check();
    },
  };
};
