import { HttpError } from '../../http/errors.ts';
import type { SilenceMatcher } from '../../kit/silence-source.ts';

const matcherForm = /^\s*("(?:[^"\\]|\\.)+"|[^=!~"\s]+)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s;

/** Parses a matcher in a query: `name=value` or `name=~"value"`; the name may be quoted too. @throws HttpError */
export const parseMatcher = (text: string): SilenceMatcher => {
  const [, label = '"', operator = '', value = ''] = matcherForm.exec(text) ?? [];
  const [name, unquoted] = [unquote(label), unquote(value)];
  if (name === undefined || unquoted === undefined) {
    throw new HttpError('invalid', `filter must be a matcher such as alertname=~"Disk.*", not ${text.slice(0, 100)}`);
  }
  return { name, value: unquoted, isRegex: operator.endsWith('~'), isEqual: operator.startsWith('=') };
};

const escapes: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

/**
 * Removes quotes; returns undefined if a quote is missing. Keeps unknown escapes, because they belong to regular
 * expressions.
 */
const unquote = (text: string): string | undefined => {
  if (!text.startsWith('"') && !text.endsWith('"')) return text;
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1];
  return inner?.replaceAll(/\\(.)/gs, (whole, character: string) => escapes[character] ?? whole);
};
