import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { client } from '../api.ts';
import { place } from '../router.ts';
import { isReadable } from '../routes.ts';
import { useResource } from './resource.ts';

/** True for each rarely used list that has entries. Updated by `useFilledLists`. */
export const filledLists = signal({ items: false, simpleTasks: false });

/** Checks the lists initially, after each login, and when a list is opened. */
export const useFilledLists = (): void => {
  const { path } = place.value;
  const { value } = useResource(loadFilled, { key: lists.includes(path) ? path : '' });
  useEffect(() => {
    filledLists.value = value ?? filledLists.peek();
  }, [value]);
};

const lists = ['/items', '/simple-tasks'];

const loadFilled = async (signal: AbortSignal) => ({
  items: isReadable('listItems') && (await client.listItems({ page: 1, size: 1 }, { signal })).total > 0,
  simpleTasks: isReadable('listTasksAtSimple') && (await client.listTasksAtSimple(undefined, { signal })).length > 0,
});
