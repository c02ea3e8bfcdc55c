import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { text } from '../strings/index.ts';
import { Icon } from './icon.tsx';
import { holdToasts } from './toast.tsx';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** CSS class that sets the width. */
  kind?: string;
}

/**
 * Modal dialog, open while rendered. Its first field gets the focus. Escape and the close button close the dialog. The
 * focus then returns to the element that had it before or, if that element no longer exists, to the screen.
 */
export const Dialog = ({ title, onClose, children, kind = '' }: Props) => {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    const before = document.activeElement;
    dialog.showModal();
    dialog.querySelector<HTMLElement>('input, select, textarea')?.focus();
    const leave = holdToasts(dialog);
    return () => {
      leave();
      dialog.close();
      const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body;
      (isThere ? before : document.querySelector<HTMLElement>('main'))?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${kind}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label={text.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
};

interface FormProps extends Props {
  /** Label of the submit button. */
  action: string;
  onSubmit: () => void;
  isDisabled?: boolean;
  /** Error of the last attempt. */
  error?: string;
}

/** Dialog with a form and buttons to submit or cancel. */
export const FormDialog = ({ action, onSubmit, isDisabled, error, children, ...dialog }: FormProps) => (
  <Dialog {...dialog}>
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary" aria-disabled={isDisabled}>
          {action}
        </button>
        <button type="button" onClick={dialog.onClose}>
          {text.cancel}
        </button>
      </div>
    </form>
  </Dialog>
);
