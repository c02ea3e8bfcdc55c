import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, client } from '../api.ts';
import { logInAs } from '../live/login.ts';
import { place, toHash } from '../router.ts';
import { isMounted } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { setupTexts as words } from '../strings/setup.ts';
import { bind, Field } from '../ui/field.tsx';
import { NewPassword } from '../ui/new-password.tsx';
import { Empty, LoginButton } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';

/** Result of the last attempt. */
type Outcome = { kind: 'open' | 'refused' | 'created' | 'failed'; message: string };

/** Page that the setup link in the start message opens. It creates the first account and works only once. */
const SetupScreen = () => {
  const [code] = useState(place.value.params['code'] ?? '');
  const outcome = useSignal<Outcome>({ kind: 'open', message: '' });
  const { kind, message } = outcome.value;
  if (kind === 'created') return <Ended title={words.exists} hint={words.existsHint} />;
  if (code === '') return <Ended title={words.noCode} hint={words.noCodeHint} />;
  if (kind === 'refused') return <Ended title={words.refused} hint={`${message}.`} isAlert />;
  return (
    <AccountForm
      code={code}
      outcome={outcome.value}
      onOutcome={(next) => {
        outcome.value = next;
      }}
    />
  );
};

interface FormProps {
  code: string;
  outcome: Outcome;
  onOutcome: (outcome: Outcome) => void;
}

const AccountForm = ({ code, outcome, onOutcome }: FormProps) => {
  const name = useSignal('');
  const password = useSignal('');
  const isRunning = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isRunning.value) return;
    isRunning.value = true;
    onOutcome({ kind: 'open', message: '' });
    onOutcome(await createAccount({ code, name: name.value.trim(), password: password.value }));
    isRunning.value = false;
  };
  const { kind, message } = outcome;
  // The server's message begins with the name of the refused field.
  const [, field, reason] = (kind === 'failed' && /^(name|password) (.*)$/s.exec(message)) || [];
  const form = useRef<HTMLFormElement>(null);
  // Focusing the field makes screen readers read the reason in its description.
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus(), [outcome]);
  return (
    <form ref={form} class="panel setup" onSubmit={submit}>
      <p>{words.hint}</p>
      <Field
        label={words.name}
        hint={words.nameHint}
        error={field === 'name' ? `${words.name} ${reason}.` : undefined}
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        {...bind(name)}
      />
      <NewPassword
        label={words.password}
        hint={words.passwordHint}
        error={field === 'password' ? `${words.password} ${reason}.` : undefined}
        {...bind(password)}
      />
      <p class="error" role="alert">
        {field === undefined && message}
      </p>
      <button type="submit" class="primary" aria-disabled={isRunning.value}>
        {isRunning.value ? words.running : words.action}
      </button>
    </form>
  );
};

/** Creates the account and logs in, then leaves the page, because the link works only once. */
const createAccount = async (given: { code: string; name: string; password: string }): Promise<Outcome> => {
  try {
    await client.setUp(given);
  } catch (reason) {
    const message = reason instanceof Error ? reason.message : String(reason);
    return { kind: reason instanceof ApiError && reason.status === 403 ? 'refused' : 'failed', message };
  }
  try {
    await logInAs(given.name, given.password);
    notify(words.welcome(given.name));
    location.replace(toHash(isMounted('createAlert') ? '/connect' : '/'));
  } catch {
    // The account exists, so the user can log in.
  }
  return { kind: 'created', message: '' };
};

/** Final message without a form. */
const Ended = ({ title, hint, isAlert = false }: { title: string; hint: string; isAlert?: boolean }) => (
  <div role={isAlert ? 'alert' : undefined}>
    <Empty title={title} hint={hint}>
      <LoginButton />
    </Empty>
  </div>
);

export const setupView: ScreenView = { Screen: SetupScreen };
