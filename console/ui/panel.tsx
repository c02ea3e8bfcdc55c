import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { type ApiError, isForbidden } from '../api.ts';
import { openLogin, session } from '../session.ts';
import { text } from '../strings/index.ts';
import { IconButton } from './icon-button.tsx';

interface PanelProps {
  title: string;
  /** Beside the title, for example a link or a reading. */
  aside?: ComponentChildren;
  kind?: string;
  children: ComponentChildren;
}

/** A card with a title. */
export const Panel = ({ title, aside, kind = '', children }: PanelProps) => {
  const id = useId();
  return (
    <section class={`panel ${kind}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
};

/** Grey lines in place of content that is loading, with the size that it will have. */
export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div class="skeleton" aria-busy="true">
    <span class="unseen">{text.loading}</span>
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} class="bone" aria-hidden="true" />
    ))}
  </div>
);

interface EmptyProps {
  title: string;
  hint?: string | undefined;
  children?: ComponentChildren;
}

/** What is shown where there is nothing, with what to do about it. */
export const Empty = ({ title, hint, children }: EmptyProps) => (
  <div class="empty">
    <p class="strong">{title}</p>
    {hint && <p>{hint}</p>}
    {children}
  </div>
);

interface NoMatchProps extends Omit<EmptyProps, 'children'> {
  onClear: () => void;
}

/** What is shown where no row matches the filters. */
export const NoMatch = ({ onClear, ...rest }: NoMatchProps) => (
  <Empty {...rest}>
    <button type="button" onClick={onClear}>
      {text.clear}
    </button>
  </Empty>
);

interface UnloadedProps {
  error: ApiError | undefined;
  reload: () => void;
  lines: number;
  /** What to say where the server has no such thing. */
  words?: { missing: string; missingHint: string };
}

/** What is shown in place of something that is not loaded: why, or that it is still loading. */
export const Unloaded = ({ error, reload, lines, words }: UnloadedProps) => {
  if (!error) return <Skeleton lines={lines} />;
  if (words && error.status === 404) return <Empty title={words.missing} hint={words.missingHint} />;
  return <Failure error={error} onRetry={reload} />;
};

export const LoginButton = () => (
  <IconButton icon="user" label={text.login.action} kind="primary" onClick={openLogin} />
);

/** Says why something cannot be shown and what to do: log in, try again. */
export const Failure = ({ error, onRetry }: { error: ApiError; onRetry: () => void }) => {
  if (isForbidden(error)) {
    if (session.value) return <Empty title={text.errors.admin} />;
    return (
      <Empty title={text.login.needed}>
        <LoginButton />
      </Empty>
    );
  }
  return (
    <div class="failure" role="alert">
      <p class="strong">{text.errors.title}</p>
      <p>{error.message}</p>
      <IconButton icon="repeat" label={text.retry} onClick={onRetry} />
    </div>
  );
};
