import { createCode, createCopyButton, toCodeParts } from '../ui/code.js';
import { create, createButton } from '../ui/element.js';
import { formatJson, isJson } from '../ui/json.js';

/** Longer texts are cut, until the reader asks for all. */
const mostLines = 200;
const mostCharacters = 20_000;

/** Headers that tell something about this response; the others are below them, folded. */
const telling = [
  'content-type',
  'content-length',
  'location',
  'retry-after',
  'www-authenticate',
  'etag',
  'allow',
  'link',
];

/**
 * The place where a response appears: `{ element, showWaiting(), showHead(head), addText(text), showEnd(result),
 * showFailure() }`, called in this order.
 */
export const createResult = (name) => {
  const outcome = create('p', { class: 'outcome', 'aria-live': 'polite' }, 'Press Send to see the response here.');
  const details = create('div', { class: 'response' });
  let text = '';
  let head;
  let live;
  return {
    element: create('div', { class: 'result' }, outcome, details),
    showWaiting: () => {
      text = '';
      live = undefined;
      outcome.replaceChildren('Waiting for the response…');
      details.replaceChildren();
    },
    showHead: (received) => {
      head = received;
      live = isStream(head) ? createLive(name) : undefined;
      outcome.replaceChildren(...toOutcome(head, live ? 'This is a stream: press Stop to end it.' : ''));
      details.replaceChildren(createHeaders(head.headers), ...(live ? [live.element] : []));
    },
    addText: (piece) => {
      text += piece;
      live?.add(piece);
    },
    showEnd: ({ end, milliseconds }) => {
      const ending = endings[end] ?? `${text.length.toLocaleString('en')} characters.`;
      if (head) outcome.replaceChildren(...toOutcome({ ...head, milliseconds }, ending));
      else outcome.replaceChildren(`Stopped after ${toDuration(milliseconds)}.`);
      if (head && !live) details.append(...createBody(name, text, end));
      head = undefined;
    },
    showFailure: () => {
      head = undefined;
      outcome.replaceChildren('No response: the server cannot be reached.');
      details.replaceChildren();
    },
  };
};

const isStream = ({ headers }) =>
  headers.some(([name, value]) => name === 'content-type' && value.startsWith('text/event-stream'));

const toOutcome = ({ status, reason, milliseconds }, ending = '') => [
  create('strong', { class: `code code-${String(status)[0]}` }, `${status} ${reason}`.trim()),
  ` in ${toDuration(milliseconds)}. `,
  ending,
];

const endings = {
  stopped: 'Stopped.',
  cut: 'Cut: this page reads no more of it.',
  lost: 'The connection was lost before the end.',
};

const toDuration = (milliseconds) =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

const createHeaders = (headers) => {
  const main = headers.filter(([name]) => telling.includes(name));
  const others = headers.filter(([name]) => !telling.includes(name));
  const more = create('summary', {}, `${others.length} more headers`);
  return create(
    'div',
    { class: 'headers' },
    createHeaderList(main),
    ...(others.length === 0 ? [] : [create('details', {}, more, createHeaderList(others))]),
  );
};

const createHeaderList = (headers) =>
  create(
    'dl',
    {},
    ...headers.map(([name, value]) =>
      create('div', {}, create('dt', {}, create('code', {}, name)), create('dd', {}, value)),
    ),
  );

/** The events of a stream as they arrive, scrolled to the last. */
const createLive = (name) => {
  const code = createCode(`Stream of ${name}`, []);
  const text = document.createTextNode('');
  code.firstChild.append(text);
  return {
    element: create('div', { class: 'block' }, code),
    add: (piece) => {
      const isAtEnd = code.scrollTop + code.clientHeight > code.scrollHeight - 40;
      text.appendData(piece);
      if (isAtEnd) code.scrollTop = code.scrollHeight;
    },
  };
};

const createBody = (name, text, end) => {
  if (text === '') return [create('p', { class: 'quiet' }, 'The response has no body.')];
  const isWholeJson = end === 'complete' && isJson(text);
  const whole = isWholeJson ? formatJson(text) : text;
  const short = cut(whole);
  const code = createCode(`Response of ${name}`, toCodeParts(short, isWholeJson));
  const bar = create(
    'div',
    { class: 'bar' },
    create('h4', {}, 'Response body'),
    createCopyButton('the response', () => whole),
  );
  if (short !== whole) bar.append(createShowAll(code, whole));
  return [create('div', { class: 'block' }, bar, code)];
};

const createShowAll = (code, whole) => {
  const lines = whole.split('\n').length;
  const button = createButton(
    { class: 'small' },
    () => {
      code.firstChild.textContent = whole;
      // The button that has the focus is about to disappear.
      code.focus();
      button.remove();
    },
    lines > mostLines
      ? `Show all ${lines.toLocaleString('en')} lines`
      : `Show all ${whole.length.toLocaleString('en')} characters`,
  );
  return button;
};

/** The first lines of a text, marked as cut if there are more. */
const cut = (text) => {
  const short = text.slice(0, mostCharacters).split('\n').slice(0, mostLines).join('\n');
  return short === text ? text : `${short}\n…`;
};
