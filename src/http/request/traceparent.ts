import type { IncomingHttpHeaders } from 'node:http';

/** Version, trace id, parent id and flags; later versions may add more (W3C Trace Context, 3.2). */
const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\x21-\x7e]{0,200})?$/;

/** The header `traceparent` as a member of a log line; nothing if it is missing or invalid. */
export const toTrace = ({ traceparent }: IncomingHttpHeaders): { traceparent?: string } =>
  typeof traceparent === 'string' && form.test(traceparent) ? { traceparent } : {};
