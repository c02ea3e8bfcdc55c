import { HttpError } from '../../http/errors.ts';
import type { SilenceMatcher } from '../offers.ts';

const form = /^\s*("(?:[^"\\]|\\.)+"|[^=!~"\s]+)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s;

/** A matcher as Alertmanager's API has it in a query: `name=value` or `name=~"value"`; names can be quoted, too. @throws HttpError */
export const parseMatcher = (text: string): SilenceMatcher => {
  const [, label = '"', operator = '', value = ''] = form.exec(text) ?? [];
  const [name, unquoted] = [unquote(label), unquote(value)];
  if (name === undefined || unquoted === undefined) {
    throw new HttpError('invalid', `filter must be a matcher such as alertname=~"Disk.*", not ${text.slice(0, 100)}`);
  }
  return { name, value: unquoted, isRegex: operator.endsWith('~'), isEqual: operator.startsWith('=') };
};

const escapes: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

/** Undefined where a quote is missing. Other escapes stay as they are: they are those of regular expressions. */
const unquote = (text: string): string | undefined => {
  if (!text.startsWith('"') && !text.endsWith('"')) return text;
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1];
  return inner?.replaceAll(/\\(.)/gs, (whole, character: string) => escapes[character] ?? whole);
};
