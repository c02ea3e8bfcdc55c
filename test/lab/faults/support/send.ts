import { readId } from './clients.ts';
import { alerts, type Kept, type Operation } from './kept.ts';

/** Request that creates a record, and its response. */
export interface Sent {
  status: number;
  retryAfter: string | null;
  operation: Operation;
}

/** Creates one record and waits for the response. */
export const sendOne = async (url: string, message: string, kept: Kept = alerts): Promise<Sent> => {
  const { path, body } = kept.create(message);
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await answer.text();
  const id = answer.ok ? readId(text) : undefined;
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    operation: { kind: 'create', message, id, text: `${message}.1`, isAcknowledged: answer.ok },
  };
};
