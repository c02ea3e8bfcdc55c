import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api.ts';
import { logInAs } from '../live/login.ts';
import { closeLogin, hasExpired, isLoginOpen } from '../session.ts';
import { text } from '../strings/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { bind, CheckBox, Field } from '../ui/field.tsx';

/** Login dialog over the current screen. Text typed on the screen is kept. */
export const LoginDialog = () => (isLoginOpen.value ? <OpenLogin /> : null);

const OpenLogin = () => {
  const name = useSignal('');
  const password = useSignal('');
  const keep = useSignal(false);
  const error = useSignal('');
  const wait = useSignal(0);
  const isChecking = useSignal(false);
  useEffect(() => {
    if (wait.value === 0) return;
    const timer = setTimeout(() => {
      wait.value -= 1;
    }, 1000);
    return () => clearTimeout(timer);
  }, [wait.value]);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isChecking.value || wait.value > 0) return;
    isChecking.value = true;
    error.value = '';
    try {
      await logInAs(name.value, password.value, keep.value);
    } catch (reason) {
      error.value = reason instanceof Error ? reason.message : String(reason);
      if (reason instanceof ApiError && reason.status === 429) wait.value = reason.retryAfter ?? 1;
    }
    isChecking.value = false;
  };
  return (
    <Dialog title={text.login.title} kind="login" onClose={closeLogin}>
      <form onSubmit={submit}>
        {hasExpired.value && <p class="note">{text.login.expired}</p>}
        <Field
          label={text.login.user}
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
          {...bind(name)}
        />
        <Field
          label={text.login.password}
          name="password"
          type="password"
          autocomplete="current-password"
          required
          {...bind(password)}
        />
        <CheckBox
          label={text.login.keep}
          hint={text.login.keepHint}
          checked={keep.value}
          onValue={(checked) => {
            keep.value = checked;
          }}
        />
        <p class="error" role="alert">
          {wait.value > 0 ? text.login.wait(wait.value) : error.value}
        </p>
        <button type="submit" class="primary" aria-disabled={isChecking.value || wait.value > 0}>
          {isChecking.value ? text.login.checking : text.login.action}
        </button>
      </form>
    </Dialog>
  );
};
