import { useSignal } from '@preact/signals';
import { Dialog } from './dialog.tsx';

/** Characters that fit on a line of a narrow window. */
const mostInLine = 36;
/** Characters of a line; the window cuts it earlier. */
const mostShown = 400;

/** Text in a row of a table. One that may not fit is a button that shows all of it. */
export const OneLine = ({ value, title }: { value: string; title: string }) => {
  // The row may come to show another value; what is open is then gone.
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
