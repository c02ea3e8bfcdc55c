import { signal } from '@preact/signals';
import { type ApiError, send } from '../api.ts';
import { getStatus, type Status } from '../calls/status.ts';
import { findMismatch } from '../shape.ts';
import { useResource } from './resource.ts';

interface Known {
  value: Status | undefined;
  error: ApiError | undefined;
  reload: () => void;
}

/** What needs attention now, by the server's own judgement; kept current by `useStatus`. */
export const status = signal<Known>({ value: undefined, error: undefined, reload: () => undefined });

const take = (data: unknown, before: Status | undefined): Status | undefined =>
  findMismatch(data, getStatus.shape) === undefined ? (data as Status) : before;

/** Follows the server's health as long as the component is shown: the one around all screens. */
export const useStatus = (): void => {
  status.value = useResource((signal) => send(getStatus, { signal }), { topic: 'status', take });
};
