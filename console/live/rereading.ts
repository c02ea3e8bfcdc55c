import { useEffect } from 'preact/hooks';
import type { Resource } from './resource.ts';

/** Reloads a resource without events at intervals, while the page is visible. */
export const useRereading = ({ reload }: Pick<Resource<unknown>, 'reload'>, milliseconds: number): void =>
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [reload, milliseconds]);
