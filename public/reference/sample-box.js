import { languages, toSample } from '../openapi/samples.js';
import { createCode, createCopyButton } from '../ui/code.js';
import { create } from '../ui/element.js';

const storageKey = 'signalbox-docs-language';

const readLanguage = () => {
  try {
    const stored = localStorage.getItem(storageKey);
    return stored in languages ? stored : 'curl';
  } catch {
    return 'curl';
  }
};

/** The language of all boxes. */
let language = readLanguage();
const boxes = [];

/** The call of a route in the language that the reader chooses: `{ element, show(call) }`. */
export const createSampleBox = (route, firstCall) => {
  let call = firstCall;
  const code = createCode(`Call of ${route.method} ${route.path}`, []);
  const radios = Object.keys(languages).map((name) => createRadio(name, `language-${route.id}`));
  const render = () => {
    for (const radio of radios) radio.checked = radio.value === language;
    code.firstChild.textContent = toSample(language, call);
  };
  const choices = create(
    'fieldset',
    { class: 'languages' },
    create('legend', { class: 'unseen' }, 'Language of the call'),
    ...radios.map((radio) => create('label', {}, radio, languages[radio.value])),
  );
  const bar = create(
    'div',
    { class: 'bar' },
    choices,
    createCopyButton('the call', () => code.textContent),
  );
  boxes.push(render);
  render();
  return {
    element: create('div', { class: 'block' }, bar, code),
    show: (next) => {
      call = next;
      render();
    },
  };
};

const createRadio = (name, group) => {
  const radio = create('input', { type: 'radio', name: group, value: name });
  radio.addEventListener('change', () => choose(name));
  return radio;
};

const choose = (name) => {
  language = name;
  for (const render of boxes) render();
  try {
    localStorage.setItem(storageKey, name);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
};
