import { HttpError } from '../../../http/errors.ts';
import { findSeverity, severities, toSeverity } from '../../severity.ts';

/** Whether a text is the same as this one, in any case. */
export const createTextTest = (wanted: string): ((text: string) => boolean) => {
  const lower = wanted.toLowerCase();
  return (text) => text === wanted || text.toLowerCase() === lower;
};

/** Whether a level means the severity that has this name; throws an HttpError if none has. */
export const createSeverityTest = (name: string): ((level: string) => boolean) => {
  const wanted = findSeverity(name);
  if (wanted) return (level) => toSeverity(level) === wanted;
  const names = severities.join(', ');
  throw new HttpError('invalid', `severity must name one of ${names}, such as critical, err, warn or info`);
};
