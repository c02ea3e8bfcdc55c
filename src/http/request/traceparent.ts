/** Version, trace id, parent id and flags; later versions may add more (W3C Trace Context, 3.2). */
const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\x21-\x7e]{0,200})?$/;

/** `traceparent` of a request's headers, or of a record, as a member of another object; nothing if it is missing or invalid. */
export const toTrace = ({ traceparent }: Readonly<Record<string, unknown>>): { traceparent?: string } =>
  typeof traceparent === 'string' && form.test(traceparent) ? { traceparent } : {};
