import { HttpError } from '../http/errors.ts';
import type { SilenceMatcher } from './silence-source.ts';

const matcherForm = /^\s*("(?:[^"\\]|\\.)+"|[^=!~"\s]+)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s;

/**
 * Parses a matcher: `name=value` or `name=~"value"`. The name may also be quoted. Throws an HttpError for any other
 * text.
 */
export const parseMatcher = (text: string): SilenceMatcher => {
  const [, label = '"', operator = '', value = ''] = matcherForm.exec(text) ?? [];
  const [name, unquoted] = [unquote(label), unquote(value)];
  if (name === undefined || unquoted === undefined) {
    throw new HttpError('invalid', `a matcher must have a form such as alertname=~"Disk.*", not ${text.slice(0, 100)}`);
  }
  return { name, value: unquoted, isRegex: operator.endsWith('~'), isEqual: operator.startsWith('=') };
};

/**
 * Parses matchers separated by commas, optionally in braces, as in Alertmanager's configuration. Throws an HttpError
 * for any other text.
 */
export const parseMatchers = (text: string): SilenceMatcher[] => {
  const inner = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1] ?? text;
  const parts = inner.match(/(?:"(?:[^"\\]|\\.)*"|[^,])+/gs) ?? [inner];
  return parts.filter((part, index) => part.trim() !== '' || index === 0).map(parseMatcher);
};

const escapes: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

/**
 * Removes quotes. Returns undefined if a quote is missing. Keeps unknown escapes, because they belong to regular
 * expressions.
 */
const unquote = (text: string): string | undefined => {
  if (!text.startsWith('"') && !text.endsWith('"')) return text;
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1];
  return inner?.replaceAll(/\\(.)/gs, (whole, character: string) => escapes[character] ?? whole);
};
