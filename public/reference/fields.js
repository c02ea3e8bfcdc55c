import { create, toInline } from '../ui/element.js';

/** A heading and the fields below it; nothing if there are none. `note` stands beside the heading. */
export const createFields = (title, fields, { note = '', isResponse = false } = {}) =>
  fields.length === 0 ? [] : [createTitle(title, note), createList(fields, isResponse)];

export const createTitle = (title, note = '') =>
  create('h4', {}, title, ...(note ? [' ', create('span', { class: 'note' }, ...toInline(note))] : []));

const createList = (fields, isResponse) =>
  create('dl', { class: 'fields' }, ...fields.map((field) => createField(field, isResponse)));

/** The members of a field follow it, indented. */
const createField = (field, isResponse) => {
  const { name, type, description, fields } = field;
  const about = create('dd', {}, create('code', { class: 'type' }, type));
  for (const [index, part] of listRules(field, isResponse).entries()) about.append(index === 0 ? ' ' : ', ', ...part);
  if (description) about.append(create('span', { class: 'about' }, ...toInline(description)));
  if (fields.length > 0) about.append(createList(fields, isResponse));
  return create('div', {}, create('dt', {}, create('code', {}, name)), about);
};

/** What a value must keep to; of a response only its format, and whether it may be missing. */
const listRules = ({ isRequired, rules }, isResponse) => {
  if (!isResponse)
    return [isRequired ? [create('strong', {}, 'required')] : [createQuiet('optional')], ...rules.map(toInline)];
  const formats = rules.filter((rule) => rule.startsWith('format ')).map(toInline);
  return isRequired ? formats : [[createQuiet('not always there')], ...formats];
};

const createQuiet = (text) => create('span', { class: 'quiet' }, text);
