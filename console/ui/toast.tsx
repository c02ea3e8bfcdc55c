import { signal } from '@preact/signals';
import { text } from '../strings/index.ts';
import { Icon } from './icon.tsx';

interface Toast {
  id: number;
  message: string;
  kind: 'note' | 'failure';
  action: { label: string; run: () => void } | undefined;
}

const toasts = signal<Toast[]>([]);
let lastId = 0;

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((each) => each.id !== id);
};

/** Shows a message for some seconds, for example with an action that undoes what was done. */
export const notify = (message: string, { kind = 'note', action }: Partial<Toast> = {}): void => {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-3), { id, message, kind, action }];
  setTimeout(() => dismiss(id), action || kind === 'failure' ? 12_000 : 4000);
};

/** Where messages appear; screen readers announce them. */
export const Toasts = () => (
  <div class="toasts" role="status">
    {toasts.value.map(({ id, message, kind, action }) => (
      <div key={id} class={`toast toast-${kind}`}>
        <span>{message}</span>
        {action && (
          <button
            type="button"
            onClick={() => {
              dismiss(id);
              action.run();
            }}
          >
            {action.label}
          </button>
        )}
        <button type="button" class="quiet" aria-label={text.close} onClick={() => dismiss(id)}>
          <Icon name="close" />
        </button>
      </div>
    ))}
  </div>
);
