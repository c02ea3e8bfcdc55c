/** Most characters of a response that are read; a stream shows fewer. */
const mostRead = 8 * 1024 * 1024;
const mostStreamed = 256 * 1024;

/**
 * Sends a call and reports the response as it arrives: `onHead({ status, reason, headers, milliseconds })`, then
 * `onText(text)` for each piece. Resolves to `{ milliseconds, end }` with `end` one of `complete`, `stopped` (by `signal`),
 * `cut` (too long) and `lost` (the connection); rejects if there is no response.
 */
export const send = async (call, { token, signal, onHead, onText }) => {
  const start = performance.now();
  let hasHead = false;
  const toResult = (end) => ({ end, milliseconds: performance.now() - start });
  try {
    const response = await fetch(call.url, toOptions(call, token, signal));
    const { status, statusText, headers } = response;
    onHead({ status, reason: statusText, headers: [...headers], milliseconds: performance.now() - start });
    hasHead = true;
    const isStream = headers.get('Content-Type')?.startsWith('text/event-stream') ?? false;
    return toResult(await readBody(response, isStream ? mostStreamed : mostRead, onText));
  } catch (error) {
    if (signal.aborted) return toResult('stopped');
    if (hasHead) return toResult('lost');
    throw error;
  }
};

const toOptions = ({ method, type, body }, token, signal) => ({
  method,
  headers: { ...(body && { 'Content-Type': type }), ...(token && { Authorization: `Bearer ${token}` }) },
  body: body || undefined,
  signal,
  cache: 'no-store',
});

const readBody = async ({ body }, most, onText) => {
  if (!body) return 'complete';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return 'complete';
    length += value.length;
    onText(value);
    if (length > most) {
      await reader.cancel();
      return 'cut';
    }
  }
};
