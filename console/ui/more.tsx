import { useEffect, useRef } from 'preact/hooks';
import { text } from '../strings/index.ts';

interface Props {
  /** What the button says. */
  label: string;
  isLoading: boolean;
  isEnd: boolean;
  onMore: () => void;
}

/** Loads the next page of a list when it comes near the visible part. */
export const More = ({ label, isLoading, isEnd, onMore }: Props) => {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!element.current || isEnd || isLoading) return;
    // On a busy machine several entries come at once; only the last one says where the element is now.
    const observer = new IntersectionObserver((entries) => entries.at(-1)?.isIntersecting && onMore(), {
      rootMargin: '4000px',
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [onMore, isEnd, isLoading]);
  return (
    <div ref={element} class="more">
      {!isEnd && (
        <button type="button" aria-disabled={isLoading} onClick={onMore}>
          {isLoading ? text.loading : label}
        </button>
      )}
    </div>
  );
};
