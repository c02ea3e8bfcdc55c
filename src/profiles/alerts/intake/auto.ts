import { HttpError } from '../../../http/errors.ts';
import type { Format } from './format.ts';
import { formats } from './formats.ts';

/** The one format whose marks the value has; throws an HttpError that names the formats if none or several fit. */
export const recognize = (value: unknown): Format => {
  const found = formats.filter((format) => format.recognizes(value));
  const [format, ...others] = found;
  if (format && others.length === 0) return format;
  const names = (format ? found : formats).map(({ name }) => name).join(', ');
  throw new HttpError('invalid', `The body fits ${format ? 'several formats' : 'none of the formats'}: ${names}`);
};
