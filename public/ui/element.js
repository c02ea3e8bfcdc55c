/**
 * Creates an element. Attributes that are undefined are left out. Children are elements or text; text is never parsed
 * as HTML.
 */
export const create = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
};

/** A button that calls `action`. */
export const createButton = (attributes, action, ...children) => {
  const button = create('button', { type: 'button', ...attributes }, ...children);
  button.addEventListener('click', action);
  return button;
};

/** A sentence as children of an element; text between backticks becomes code. */
export const toInline = (sentence) =>
  sentence.split('`').map((part, index) => (index % 2 === 1 ? create('code', {}, part) : part));

/** Text for screen readers only. */
export const createUnseen = (text) => create('span', { class: 'unseen' }, text);
