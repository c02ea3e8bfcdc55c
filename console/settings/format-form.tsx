import { useSignal } from '@preact/signals';
import type { IntakeFormat } from 'signalbox/client';
import { userClient } from '../api.ts';
import { putSeen, useSeen } from '../live/conditional.ts';
import { useSubmission } from '../live/submission.ts';
import { goTo } from '../router.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, bind, exact, Field } from '../ui/field.tsx';
import { notify } from '../ui/toast.tsx';
import { FormatTrial, readJson } from './format-trial.tsx';
import type { FormProps } from './section.tsx';

/** Definition that the form of a new format starts with. */
const example: IntakeFormat['definition'] = {
  source: 'builds/{/project/name}',
  level: { '/status': { failed: 'ERROR', '*': 'INFO' } },
  status: { '/status': { success: 'resolved', '*': 'firing' } },
  message: 'Build {/id}: {/status}',
  key: '{/project/name}',
  link: '{/url}',
};

/** Form of an intake format: its name, and its definition as JSON. The user can try the definition before saving it. */
export const FormatForm = ({ before: present, onClose, onChanged }: FormProps<IntakeFormat>) => {
  const before = useSeen(present);
  const name = useSignal(before?.name ?? '');
  const definition = useSignal(JSON.stringify(before?.definition ?? example, undefined, 2));
  const submission = useSubmission(async () => {
    const intakeFormat = name.value.trim();
    if (intakeFormat === '') throw new Error(words.noName);
    const given = readJson(words.definition, definition.value) as IntakeFormat['definition'];
    const put = (options: object) => userClient.putIntakeFormat({ ...given, intakeFormat }, options).finally(onChanged);
    await putSeen(put, before, words.formatExists(intakeFormat));
    notify(words.saved(intakeFormat));
    goTo('/settings/formats', { open: intakeFormat });
  });
  return (
    <FormDialog
      title={before ? `${words.change.formats} ${before.name}` : words.create.formats}
      action={before ? words.save : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && <Field {...exact} label={words.name} hint={words.formatNameHint} {...bind(name)} />}
      <Area label={words.definition} hint={words.definitionHint} lines={12} {...bind(definition)} />
      <FormatTrial name={name.value.trim() || 'new'} definition={definition.value} />
    </FormDialog>
  );
};
