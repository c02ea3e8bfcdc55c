import { useSignal } from '@preact/signals';
import type { User } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toIfMatch, useSeen } from '../live/conditional.ts';
import { useSubmission } from '../live/submission.ts';
import { expireSession, session } from '../session.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { bind, Choice, exact, Field } from '../ui/field.tsx';
import { NewPassword } from '../ui/new-password.tsx';
import type { Column } from '../ui/table.tsx';
import { notify } from '../ui/toast.tsx';
import { type FormProps, Section } from './section.tsx';

const isOwn = (name: string): boolean => session.value?.name === name;

const Mark = ({ name }: User) => (isOwn(name) ? <span class="hint">({words.you})</span> : null);

const columns: Column<User>[] = [{ key: 'role', title: words.role, width: '8rem', cell: ({ role }) => role }];

/** Users who can log in. */
export const UsersSection = () => (
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
  const before = useSeen(present);
  const name = useSignal(before?.name ?? '');
  const isSelf = before !== undefined && isOwn(before.name);
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
    // The server has ended the sessions with the former role.
    if (isSelf && saved.role !== before?.role) expireSession();
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
      {!before && <Field label={words.name} hint={words.nameHint} {...exact} {...bind(name)} />}
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
      {isSelf ? (
        <p class="note">{words.ownHint}</p>
      ) : (
        <NewPassword
          label={before ? words.newPassword : words.password}
          hint={before ? `${words.passwordHint} ${words.keepPassword}` : words.passwordHint}
          {...bind(password)}
        />
      )}
    </FormDialog>
  );
};
