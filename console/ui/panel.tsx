import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { type ApiError, isForbidden } from '../api.ts';
import { openLogin, session } from '../session.ts';
import { text } from '../strings/index.ts';
import { IconButton } from './icon-button.tsx';

interface PanelProps {
  title: string;
  /** Content next to the title, for example a link or a reading. */
  aside?: ComponentChildren;
  kind?: string;
  children: ComponentChildren;
}

/** Card with a title. */
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

/** Grey lines in place of content that is loading, in its expected size. */
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

/** Placeholder for missing content, with advice on what to do. */
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

/** Placeholder for a list in which no row matches the filters. */
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
  /** Message for a response that says that the item does not exist. */
  words?: { missing: string; missingHint: string };
}

/** Placeholder for content that is loading or has failed to load. */
export const Unloaded = ({ error, reload, lines, words }: UnloadedProps) => {
  if (!error) return <Skeleton lines={lines} />;
  if (words && error.status === 404) return <Empty title={words.missing} hint={words.missingHint} />;
  return <Failure error={error} onRetry={reload} />;
};

export const LoginButton = () => (
  <IconButton icon="user" label={text.login.action} kind="primary" onClick={openLogin} />
);

/** Reason for a failure, with buttons to log in or try again. */
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
