import type { Acknowledged } from './clients.ts';

/** The response to an alert; `acknowledged` is set if it was 200. */
export interface Sent {
  status: number;
  retryAfter: string | null;
  acknowledged: Acknowledged | undefined;
}

/** Sends one alert and waits for the response. */
export const sendAlert = async (url: string, message: string): Promise<Sent> => {
  const body = JSON.stringify({ message });
  const answer = await fetch(`${url}/api/alert`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(30_000),
  });
  const { id } = (await answer.json()) as { id?: string };
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    acknowledged: answer.status === 200 && id !== undefined ? { message, id } : undefined,
  };
};
