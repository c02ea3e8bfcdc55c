import { create, createButton, createUnseen } from './element.js';
import { isJson, splitJson } from './json.js';

/** Milliseconds for which a button says that it has copied. */
const copiedFor = 2000;

/** A block of code that can be scrolled with the keyboard; `label` names it to screen readers. */
export const createCode = (label, children) =>
  create('pre', { tabindex: '0', role: 'region', 'aria-label': label }, create('code', {}, ...children));

/** The children of a code element: JSON in colours, even if it is cut; any other text as it is. */
export const toCodeParts = (text, isColoured = isJson(text)) =>
  isColoured
    ? splitJson(text).map((part) => (part.kind ? create('span', { class: `json-${part.kind}` }, part.text) : part.text))
    : [text];

/** A button that copies the text which `getText` returns; `what` tells screen readers what it copies. */
export const createCopyButton = (what, getText) => {
  const word = create('span', { 'aria-live': 'polite' }, 'Copy');
  let timer;
  return createButton(
    { class: 'small' },
    async () => {
      word.textContent = (await copy(getText())) ? 'Copied' : 'Not copied';
      clearTimeout(timer);
      timer = setTimeout(() => word.replaceChildren('Copy'), copiedFor);
    },
    word,
    createUnseen(` ${what}`),
  );
};

/** True if the text is on the clipboard. */
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
};

/** Browsers offer the clipboard only with HTTPS or on localhost; elsewhere a selected text can be copied. */
const copySelection = (text) => {
  const before = document.activeElement;
  const field = create('textarea', { class: 'unseen' });
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  before?.focus();
  return isCopied;
};
