import { HttpError } from '../../../http/errors.ts';
import { AlertBody } from '../schema.ts';
import { formType } from './format.ts';

const labelPrefix = 'labels.';

/**
 * Parses a form whose fields are named like the members of the JSON body. Labels are fields such as `labels.team`.
 * Returns undefined for JSON, because curl sends JSON with the media type of a form. Throws an HttpError for a form
 * without any known field.
 */
export const readForm = (mediaType: string | undefined, readText: () => string): object | undefined => {
  if (mediaType !== formType) return undefined;
  const text = readText();
  if (/^\s*(?:[[{"]|$)/.test(text)) return undefined;
  const fields = new Map<string, string>();
  const labels: [name: string, value: string][] = [];
  for (const [name, value] of new URLSearchParams(text)) {
    if (name.startsWith(labelPrefix)) labels.push([name.slice(labelPrefix.length), value]);
    else if (names.includes(name) && !fields.has(name)) fields.set(name, value);
  }
  if (fields.size === 0)
    throw new HttpError('invalid', `Request body is neither JSON nor a form with ${names.join(', ')}`);
  return { ...Object.fromEntries(fields), ...(labels.length > 0 && { labels: Object.fromEntries(labels) }) };
};

const names = Object.keys(AlertBody.properties).filter((name) => name !== 'labels');
