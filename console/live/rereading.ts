import { useEffect } from 'preact/hooks';
import type { Resource } from './resource.ts';

/** Reads something again at intervals, of which no event tells, as long as the page is seen. */
export const useRereading = ({ reload }: Pick<Resource<unknown>, 'reload'>, milliseconds: number): void =>
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [reload, milliseconds]);
