import { useSignal } from '@preact/signals';
import { Dialog } from './dialog.tsx';

/** Maximum number of characters that fit on a line in a narrow window. */
const mostInLine = 36;
/** Maximum number of characters rendered. The window cuts the text earlier. */
const mostShown = 400;

/** Text in a table row. If the text may not fit, it becomes a button that shows the full text. */
export const OneLine = ({ value, title }: { value: string; title: string }) => {
  // Stores the open value, so that the dialog closes if the row gets another value.
  const open = useSignal<string | undefined>(undefined);
  const line = <bdi>{value.slice(0, mostShown)}</bdi>;
  if (value.length <= mostInLine) return line;
  return (
    <>
      <button
        type="button"
        class="cut one-line"
        onClick={() => {
          open.value = value;
        }}
      >
        {line}
      </button>
      {open.value === value && (
        <Dialog
          title={title}
          onClose={() => {
            open.value = undefined;
          }}
        >
          <p>
            <bdi class="long-text">{value}</bdi>
          </p>
        </Dialog>
      )}
    </>
  );
};
