import { useSignal } from '@preact/signals';
import { ApiError, client, userClient } from '../api.ts';
import { useResource } from '../live/resource.ts';
import { useSubmission } from '../live/submission.ts';
import { place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { outlast } from '../session.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { bind, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { NewPassword } from '../ui/new-password.tsx';
import { notify } from '../ui/toast.tsx';

/** Button to change the user's own password. If the password cannot be changed here, a note says where to change it. */
export const OwnPassword = () => (isAllowed('changeOwnPassword') ? <Way /> : null);

const Way = () => {
  const { value } = useResource((signal) => client.getOwnAccount(undefined, { signal }), { isKept: true });
  if (!value) return null;
  if (value.origin !== 'made') return <p class="hint">{words.passwordElsewhere[value.origin ?? 'issuer']}</p>;
  return (
    <>
      <IconButton icon="edit" label={words.changePassword} onClick={() => setParams({ password: '1' })} />
      {place.value.params.password && <PasswordForm onClose={() => setParams({ password: undefined })} />}
    </>
  );
};

const PasswordForm = ({ onClose }: { onClose: () => void }) => {
  const currentPassword = useSignal('');
  const password = useSignal('');
  const change = () =>
    userClient.changeOwnPassword({ currentPassword: currentPassword.value, password: password.value });
  const submission = useSubmission(async () => {
    await outlast(change).catch((error: unknown) => {
      throw error instanceof ApiError && error.status === 403 ? new Error(words.currentWrong) : error;
    });
    notify(words.passwordChanged);
    onClose();
  });
  return (
    <FormDialog title={words.changePassword} action={words.save} onClose={onClose} {...submission}>
      <Field
        label={words.currentPassword}
        name="password"
        type="password"
        autocomplete="current-password"
        {...bind(currentPassword)}
      />
      <NewPassword label={words.newPassword} hint={words.passwordHint} {...bind(password)} />
    </FormDialog>
  );
};
