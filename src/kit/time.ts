import Type from 'typebox';

/** Schema of times in responses. */
export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] });

/** Schema of stored times: Unix milliseconds within the range of a Date. */
export const Milliseconds = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });

/** Converts Unix milliseconds to a time for responses. */
export const toTimeText = (ms: number): string => new Date(ms).toISOString();

/** Converts Unix milliseconds to a time for responses. Null if missing or infinite. */
export const toTimeOrNull = (ms: number | null | undefined): string | null =>
  typeof ms === 'number' && Number.isFinite(ms) ? toTimeText(ms) : null;
