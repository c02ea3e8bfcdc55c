import { isObject } from '../../../../lib/parse-json.ts';
import { toScalarText } from '../fields.ts';

/**
 * Values that pointers can select. `#/…` starts at the whole body, and `/…` at the alert. Without `each`, the alert is
 * the whole body.
 */
export interface TemplateInput {
  body: unknown;
  alert: unknown;
}

type Find = (input: TemplateInput) => unknown;

/** Maximum number of list elements in a string. */
const maxElements = 32;

/** Compiles a JSON Pointer (RFC 6901) to a function that returns a value or undefined. Throws for any other text. */
export const compilePointer = (text: string): Find => {
  const isFromBody = text.startsWith('#');
  const pointer = isFromBody ? text.slice(1) : text;
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) {
    throw new Error(
      `${JSON.stringify(text)} is not a JSON Pointer such as /project/name; in names, write ~ as ~0 and / as ~1`,
    );
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

/** Converts a value to text. Joins list elements with commas. Objects and missing values become empty strings. */
export const toPlainText = (value: unknown): string => {
  if (!Array.isArray(value)) return toScalarText(value);
  const words = value.slice(0, maxElements).map(toScalarText);
  return words.filter((word) => word !== '').join(', ');
};

/** Fills in a template. Stops after about `limit` characters. */
export type Render = (input: TemplateInput, limit: number) => string;

/** Compiles a string that contains `{/pointer}`. Throws an Error for an invalid pointer. */
export const compileText = (text: string): Render => {
  const parts = text.split(/(\{[^{}]*\})/).map((part): string | Find => {
    if (!part.startsWith('{') || !part.endsWith('}')) return part;
    return compilePointer(part.slice(1, -1));
  });
  return (input, limit) => {
    let whole = '';
    for (const part of parts) {
      // Values can be long and shared by thousands of alerts.
      whole += typeof part === 'string' ? part : toPlainText(part(input)).slice(0, limit + 1);
      if (whole.length > limit) break;
    }
    return whole;
  };
};

/** True if a template has no pointers. */
export const isConstant = (text: string): boolean => !/\{[^{}]*\}/.test(text);
