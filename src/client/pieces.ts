import { ClientError } from './error.ts';

/**
 * The text of a body in the pieces in which it arrives. Throws if it breaks or is aborted, and a ClientError if nothing
 * comes for `silence` milliseconds.
 */
export async function* readPieces({ body, url }: Response, silence?: number): AsyncGenerator<string, void> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  let isLost = false;
  const giveUp = () => {
    isLost = true;
    cancel();
  };
  try {
    for (;;) {
      const timer = silence === undefined ? undefined : setTimeout(giveUp, silence);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (isLost) throw new ClientError('timeout', `GET ${url}: nothing came for ${silence} ms`);
      if (done) return;
      yield value;
    }
  } finally {
    cancel();
  }
}
