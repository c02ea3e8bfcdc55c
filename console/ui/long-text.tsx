import { useSignal } from '@preact/signals';
import { shorten } from '../format.ts';
import { text } from '../strings/index.ts';

/** Maximum number of characters before the text is cut. */
const mostShown = 2000;

/** Text of any length and direction. Long text is cut and has a button to show the rest. */
export const LongText = ({ value, most = mostShown }: { value: string; most?: number }) => {
  const isWhole = useSignal(false);
  if (value.length <= most) return <bdi class="long-text">{value}</bdi>;
  return (
    <>
      <bdi class="long-text">{isWhole.value ? value : shorten(value, most)}</bdi>{' '}
      <button
        type="button"
        class="link"
        onClick={() => {
          isWhole.value = !isWhole.value;
        }}
      >
        {isWhole.value ? text.less : text.all}
      </button>
    </>
  );
};
