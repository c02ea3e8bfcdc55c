import { signal } from '@preact/signals';
import type { HealthStatus } from 'signalbox/client';
import { type ApiError, client } from '../api.ts';
import { useResource } from './resource.ts';

interface Known {
  value: HealthStatus | undefined;
  error: ApiError | undefined;
  reload: () => void;
}

/** Health report of the server with its open problems. Updated by `useStatus`. */
export const healthStatus = signal<Known>({ value: undefined, error: undefined, reload: () => undefined });

/** Follows the health of the server while the app component is shown. */
export const useStatus = (): void => {
  healthStatus.value = useResource((signal) => client.getStatus(undefined, { signal }), {
    topic: 'status',
    replace: (data) => data,
  });
};
