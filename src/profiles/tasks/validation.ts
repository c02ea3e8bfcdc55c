import type { FastifySchemaValidationError } from 'fastify';
import { HttpError } from '../../http/errors.ts';
import { fieldOf, toRefusal } from '../../http/validation.ts';
import { maximumTitleLength, priorities, statuses } from './schema.ts';

const fields = ['Title', 'Description', 'Priority', 'Status'];

/** The order in which a field's faults are reported. */
const keywords = ['required', 'type', 'pattern', 'maxLength', 'enum'];

/** Every rule that a task's fields break, in the order of the fields, as one refusal with `detail`. */
export const toTaskRefusal = (errors: FastifySchemaValidationError[]): HttpError => {
  if (errors.some((error) => fieldOf(error) === '')) return toRefusal(errors);
  const mistyped = new Set(errors.filter(({ keyword }) => keyword === 'type').map(fieldOf));
  const detail = errors
    .filter((error) => error.keyword === 'type' || !mistyped.has(fieldOf(error)))
    .sort((a, b) => rank(a) - rank(b))
    .map((error) => describeFault(fieldOf(error), error.keyword));
  return new HttpError('invalid', 'Validation failed', { members: { detail } });
};

const rank = (error: FastifySchemaValidationError): number =>
  fields.indexOf(fieldOf(error)) * keywords.length + keywords.indexOf(error.keyword);

const describeFault = (field: string, keyword: string): string => {
  if (keyword === 'type') return `${field} must be a string`;
  if (keyword === 'maxLength') return `${field} must not exceed ${maximumTitleLength} characters`;
  if (keyword === 'enum') return `${field} must be one of: ${(field === 'Status' ? statuses : priorities).join(', ')}`;
  return `${field} is required`;
};
