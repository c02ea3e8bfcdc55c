import { isObject } from '../../../../lib/parse-json.ts';

/** Where pointers begin: `#/…` at the whole body, `/…` at the alert, which is the same without `each`. */
export interface TemplateInput {
  body: unknown;
  alert: unknown;
}

type Find = (place: TemplateInput) => unknown;

/** The most elements of a list that a text shows. */
const mostElements = 32;

/** Finds what a JSON Pointer (RFC 6901) leads to, undefined if that is missing. Throws an Error for what is no pointer. */
export const compilePointer = (text: string): Find => {
  const isFromBody = text.startsWith('#');
  const pointer = isFromBody ? text.slice(1) : text;
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) {
    throw new Error(`${JSON.stringify(text)} is no JSON Pointer such as /project/name; in names, ~ is ~0 and / is ~1`);
  }
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return ({ body, alert }) => names.reduce(step, isFromBody ? body : alert);
};

const step = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,8})$/.test(name) ? value[Number(name)] : undefined;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
};

/** A value in a text: lists of plain values with commas, nothing for objects and what is missing. */
export const toPlainText = (value: unknown): string => {
  if (!Array.isArray(value)) return toWord(value);
  const words = value.slice(0, mostElements).map(toWord);
  return words.filter((word) => word !== '').join(', ');
};

const toWord = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Fills in a text, up to some characters more than `limit`. */
export type Render = (place: TemplateInput, limit: number) => string;

/** Compiles a text with `{/pointer}` in it. Throws an Error for one that cannot be used. */
export const compileText = (text: string): Render => {
  const parts = text.split(/(\{[^{}]*\})/).map((part): string | Find => {
    if (!part.startsWith('{') || !part.endsWith('}')) return part;
    return compilePointer(part.slice(1, -1));
  });
  return (place, limit) => {
    let whole = '';
    for (const part of parts) {
      // Values may be long, and thousands of alerts may share them.
      whole += typeof part === 'string' ? part : toPlainText(part(place)).slice(0, limit + 1);
      if (whole.length > limit) break;
    }
    return whole;
  };
};

/** Whether a text is the same for all alerts. */
export const isConstant = (text: string): boolean => !/\{[^{}]*\}/.test(text);
