import { effect, signal, untracked, useSignal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { place } from '../router.ts';
import { text } from '../strings/index.ts';
import { Icon } from './icon.tsx';

interface Toast {
  id: number;
  message: string;
  kind: 'note' | 'failure';
  action: { label: string; run: () => void } | undefined;
  /** Time at which the message was shown, in milliseconds. */
  at: number;
  /** Called if the message closes before its action is used. */
  onEnd: (() => void) | undefined;
}

/** Milliseconds for which messages are shown. Failures stay until closed. */
const shownFor = { note: 6000, action: 10_000 };
const mostShown = 4;

const toasts = signal<Toast[]>([]);
let lastId = 0;

const remove = (gone: Toast): boolean => {
  const before = toasts.value;
  toasts.value = before.filter((each) => each !== gone);
  return toasts.value.length < before.length;
};

const dismiss = (toast: Toast): void => {
  if (remove(toast)) toast.onEnd?.();
};

/** Shows a message, for example with an undo action. */
export const notify = (
  message: string,
  { kind = 'note', action, onEnd }: Partial<Omit<Toast, 'id' | 'message' | 'at'>> = {},
): void => {
  lastId += 1;
  toasts.value = [...toasts.value, { id: lastId, message, kind, action, onEnd, at: Date.now() }];
  for (const oldest of toasts.value.slice(0, -mostShown)) dismiss(oldest);
};

/**
 * Closes the notes of the screen that the user is leaving. Keeps undo notes and recent notes, because they belong to
 * the next screen.
 */
const endNotes = (): void => {
  for (const toast of toasts.value) {
    if (toast.kind === 'note' && !toast.action && Date.now() - toast.at > 1000) dismiss(toast);
  }
};

/** Container of messages. Moves into the topmost dialog, because a modal dialog makes the rest of the page inert. */
const home = document.createElement('div');
home.className = 'toast-place';
const dialogs: HTMLElement[] = [];

const movePlace = (): void => {
  const target = dialogs.at(-1) ?? document.body;
  if (home.parentElement !== target) target.append(home);
};

/** Moves messages into a dialog. The returned function moves them back. Call it before the dialog is removed. */
export const holdToasts = (dialog: HTMLElement): (() => void) => {
  dialogs.push(dialog);
  movePlace();
  return () => {
    dialogs.splice(dialogs.indexOf(dialog), 1);
    movePlace();
  };
};

export const startToasts = (): void => {
  movePlace();
  let screen = '';
  effect(() => {
    const { path } = place.value;
    if (path !== screen) untracked(endNotes);
    screen = path;
  });
  render(<Toasts />, home);
};

/** List of messages. Their timers stop while the list is hovered or focused. */
const Toasts = () => {
  const [isPointed, isFocused] = [useSignal(false), useSignal(false)];
  const isPaused = isPointed.value || isFocused.value;
  const show = (kind: Toast['kind']) =>
    toasts.value
      .filter((toast) => toast.kind === kind)
      .map((toast) => <Message key={toast.id} toast={toast} isPaused={isPaused} />);
  const isEmpty = toasts.value.length === 0;
  useEffect(() => {
    // The removed message had the pointer or focus, so no leave event fires.
    if (isEmpty) isPointed.value = isFocused.value = false;
  }, [isEmpty]);
  return (
    <div
      class="toasts"
      onPointerEnter={() => {
        isPointed.value = true;
      }}
      onPointerLeave={() => {
        isPointed.value = false;
      }}
      onFocusIn={() => {
        isFocused.value = true;
      }}
      onFocusOut={() => {
        isFocused.value = false;
      }}
    >
      <div role="status">{show('note')}</div>
      <div>{show('failure')}</div>
    </div>
  );
};

const Message = ({ toast, isPaused }: { toast: Toast; isPaused: boolean }) => {
  const { message, kind, action } = toast;
  useEffect(() => {
    if (kind === 'failure' || isPaused) return;
    const timer = setTimeout(() => dismiss(toast), action ? shownFor.action : shownFor.note);
    return () => clearTimeout(timer);
  }, [isPaused]);
  return (
    <div class={`toast toast-${kind}`} role={kind === 'failure' ? 'alert' : undefined}>
      <span>{message}</span>
      {action && (
        <button
          type="button"
          onClick={() => {
            remove(toast);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" class="quiet" aria-label={text.close} onClick={() => dismiss(toast)}>
        <Icon name="close" />
      </button>
    </div>
  );
};
