import type { FastifySchemaValidationError } from 'fastify';
import { HttpError } from '../../http/errors.ts';
import { toValidationRefusal } from '../../http/validation.ts';
import { describeSchemaErrors, type SchemaFault } from '../../lib/schema-validation.ts';

/** Combines all errors in the fields of a task in one refusal. `detail` is in field order. */
export const toTaskRefusal = (errors: FastifySchemaValidationError[]): HttpError => {
  const faults = describeSchemaErrors(errors);
  if (faults.some(isOfBody)) return toValidationRefusal(errors);
  const mistyped = faults.filter(({ keyword }) => keyword === 'type').map(fieldOf);
  const detail = faults
    .filter((fault) => fault.keyword === 'type' || !mistyped.includes(fieldOf(fault)))
    // A blank title is reported as missing rather than as too long.
    .sort((a, b) => Number(isBlank(b)) - Number(isBlank(a)))
    .map(describeFault);
  return new HttpError('invalid', 'Validation failed', { members: { detail } });
};

/** True for an error that concerns the body as a whole. */
const isOfBody = ({ path, members }: SchemaFault): boolean => path.length + members.length === 0;

const isBlank = ({ keyword }: SchemaFault): boolean => keyword === 'pattern';

const fieldOf = ({ path, members }: SchemaFault): string | undefined => path[0] ?? members[0];

const describeFault = (fault: SchemaFault): string => {
  const field = fieldOf(fault);
  if (fault.keyword === 'required' || isBlank(fault)) return `${field} is required`;
  return `${field} ${fault.clause.replace('one of', 'one of:')}`;
};
