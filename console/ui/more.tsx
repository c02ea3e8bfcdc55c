import { useEffect, useRef } from 'preact/hooks';
import { text } from '../strings/index.ts';

interface Props {
  /** Label of the button. */
  label: string;
  isLoading: boolean;
  isEnd: boolean;
  onMore: () => void;
}

/** Loads the next page of a list when scrolled near the end. */
export const More = ({ label, isLoading, isEnd, onMore }: Props) => {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!element.current || isEnd || isLoading) return;
    // A busy machine delivers several entries together. Only the last one has the current position.
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
