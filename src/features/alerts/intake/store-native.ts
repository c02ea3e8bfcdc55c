import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '../../../http/errors.ts';
import { readRepeatId } from '../../../http/text-forms.ts';
import { createNativeAlert, isEmpty, type Receipt } from '../alert.ts';
import type { AlertOutcome, AlertStore } from '../log/alert-store.ts';
import type { AlertBody } from '../schema.ts';
import type { AppendOnce } from './forwarded-ids.ts';
import type { AlertMeters } from './meters.ts';

interface NativeParts {
  store: AlertStore;
  appendOnce: AppendOnce;
  counts: Pick<AlertMeters, 'addReceived' | 'addRepeated'>;
}

/** Stores a native alert. Throws an HttpError if the alert is empty or its `Idempotency-Key` is invalid. */
export const storeNative = (
  { store, appendOnce, counts }: NativeParts,
  body: AlertBody,
  receipt: Receipt,
  headers: IncomingHttpHeaders,
): Promise<AlertOutcome> => {
  if (isEmpty(body)) {
    throw new HttpError('invalid', 'At least one of source, level, message and hostname is required');
  }
  const key = readRepeatId(headers);
  const record = createNativeAlert(body, receipt, headers);
  const stored = key === undefined ? store.append(record) : appendOnce(record, key, headers);
  return stored.then((outcome) => {
    if (outcome.isRepeat) counts.addRepeated('native', 1);
    else counts.addReceived('native', record.level);
    return outcome;
  });
};
