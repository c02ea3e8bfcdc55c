/**
 * Makes an element. Attributes that are undefined are left out; children are elements or text, and text stays text
 * whatever it holds.
 */
export const create = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
};

/** A sentence as children of an element: what stands between backticks becomes code. */
export const toInline = (sentence) =>
  sentence.split('`').map((part, index) => (index % 2 === 1 ? create('code', {}, part) : part));
