import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { User } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { useSubmission } from '../live/submission.ts';
import { expireSession, logIn, session } from '../session.ts';
import { settings as words } from '../strings/settings.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Choice, exact, Field } from '../ui/field.tsx';
import { NewPassword } from '../ui/new-password.tsx';
import type { Column } from '../ui/table.tsx';
import { notify } from '../ui/toast.tsx';
import { toIfMatch } from './made.ts';
import { type FormProps, Section } from './section.tsx';

const isOwn = (name: string): boolean => session.value?.name === name;

const Mark = ({ name }: User) => (isOwn(name) ? <span class="hint">({words.you})</span> : null);

const columns: Column<User>[] = [{ key: 'role', title: words.role, width: '8rem', cell: ({ role }) => role }];

/** Who may log in. */
export const Users = () => (
  <Section
    kind="users"
    load={(signal) => client.listUsers(undefined, { signal })}
    columns={columns}
    Mark={Mark}
    describe={({ role }) => role}
    toFacts={({ role }) => [[words.role, role]]}
    Form={UserForm}
    createRoute="createUser"
    isChangeable
    remove={(user) => userClient.deleteUser({ user: user.name }, toIfMatch(user))}
  />
);

const UserForm = ({ before: present, onClose, onChanged }: FormProps<User>) => {
  const [before] = useState(present);
  const name = useSignal(before?.name ?? '');
  const role = useSignal<User['role']>(before?.role ?? 'Reader');
  const password = useSignal('');
  const submission = useSubmission(async () => {
    const given = { role: role.value, ...(password.value !== '' && { password: password.value }) };
    const saved = before
      ? await userClient.replaceUser({ user: before.name, ...given }, toIfMatch(before)).catch((error) => {
          onChanged();
          throw error;
        })
      : await userClient.createUser({ name: name.value.trim(), role: role.value, password: password.value });
    if (before && isOwn(saved.name)) await goOn(saved.name, password.value);
    notify(words.saved(saved.name));
    onChanged();
    onClose();
  });
  return (
    <FormDialog
      title={before ? `${words.change.users} ${before.name}` : words.create.users}
      action={before ? words.save : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && (
        <Field
          label={words.name}
          hint={words.nameHint}
          {...exact}
          value={name.value}
          onValue={(value) => {
            name.value = value;
          }}
        />
      )}
      <Choice
        label={words.role}
        hint={words.roleHint}
        value={role.value}
        options={[
          ['Reader', 'Reader'],
          ['Admin', 'Admin'],
        ]}
        onValue={(value) => {
          role.value = value as User['role'];
        }}
      />
      <NewPassword
        label={before ? words.newPassword : words.password}
        hint={before ? `${words.passwordHint} ${words.keepPassword}` : words.passwordHint}
        value={password.value}
        onValue={(value) => {
          password.value = value;
        }}
      />
      {before && isOwn(before.name) && <p class="note">{words.ownHint}</p>}
    </FormDialog>
  );
};

/** The change has ended your own session: the new password begins another one. */
const goOn = async (name: string, password: string): Promise<void> => {
  if (password === '') return expireSession();
  const { token, expiresIn, role } = await client.login({ Username: name, Password: password });
  logIn({ name, role, token, expiresAt: Date.now() + expiresIn * 1000 }, false);
};
