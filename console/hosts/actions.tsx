import { useSignal } from '@preact/signals';
import type { Host, HostCode } from 'signalbox/client';
import { userClient, versionedClient } from '../api.ts';
import { useSeen } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { readList, useSubmission } from '../live/submission.ts';
import { goTo, toHash } from '../router.ts';
import { isAllowed } from '../routes.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { text } from '../strings/index.ts';
import { CopyButton, CopyLink } from '../ui/copy.tsx';
import { Dialog, FormDialog } from '../ui/dialog.tsx';
import { bind, exact, Field } from '../ui/field.tsx';
import { IconButton, IconLink } from '../ui/icon-button.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';

/** Form that creates a host's code, then shows the line to run on the machine. */
export const AddHost = ({ onClose, onChanged }: { onClose: () => void; onChanged: () => void }) => {
  const name = useSignal('');
  const tags = useSignal('');
  const created = useSignal<HostCode | undefined>(undefined);
  const submission = useSubmission(async () => {
    created.value = await userClient.createHost({ name: name.value.trim(), tags: readList(tags.value) });
    onChanged();
  });
  if (created.value) return <PasteLine created={created.value} onClose={onClose} />;
  return (
    <FormDialog title={words.add} action={words.addAction} onClose={onClose} {...submission}>
      <p class="hint">{words.addHint}</p>
      <Field label={words.name} hint={words.nameHint} {...exact} {...bind(name)} />
      <Field label={words.tags} hint={words.tagsHint} {...exact} {...bind(tags)} />
    </FormDialog>
  );
};

const PasteLine = ({ created: { name, code }, onClose }: { created: HostCode; onClose: () => void }) => {
  const hub = new URL('..', document.baseURI).href.replace(/\/$/, '');
  const line = `signalbox agent --hub ${hub} ${code}`;
  return (
    <Dialog title={words.pasteTitle(name)} onClose={onClose}>
      <div class="copied">
        <p class="note">{words.pasteHint}</p>
        <code class="example">{line}</code>
        <div class="actions">
          <CopyButton label={words.copyLine} value={() => line} />
          <button type="button" onClick={onClose}>
            {words.done}
          </button>
        </div>
      </div>
    </Dialog>
  );
};

export const HostActions = ({ host, onChanged }: { host: Host; onChanged: () => void }) => {
  const dialog = useSignal<'edit' | 'remove' | undefined>(undefined);
  const close = (): void => {
    dialog.value = undefined;
  };
  const open = (kind: 'edit' | 'remove') => () => {
    dialog.value = kind;
  };
  // A host from the config file is edited there.
  const isRuntimeSetting = host.updatedBy !== null;
  return (
    <>
      {isRuntimeSetting && isAllowed('changeHost') && (
        <IconButton icon="edit" label={words.edit} onClick={open('edit')} />
      )}
      {host.allowsCommands && isAllowed('runHostCommand') && (
        <IconLink icon="play" label={words.runCommand} href={toHash('/commands', { host: host.name })} />
      )}
      <CopyLink path={`/hosts/${encodeURIComponent(host.name)}`} />
      {isRuntimeSetting && isAllowed('deleteHost') && !host.isHub && (
        <IconButton icon="trash" label={words.remove} onClick={open('remove')} />
      )}
      {dialog.value === 'edit' && <EditHost host={host} onClose={close} onChanged={onChanged} />}
      {dialog.value === 'remove' && <RemoveHost host={host} onClose={close} onChanged={onChanged} />}
    </>
  );
};

interface HostDialogProps {
  host: Host;
  onClose: () => void;
  onChanged: () => void;
}

const EditHost = (props: HostDialogProps) => {
  const { name } = props.host;
  const load = (signal: AbortSignal) => versionedClient.getHost({ name }, { signal });
  const { value, error, reload } = useResource(load, { key: name, isKept: true });
  if (value) return <EditForm {...props} present={value} />;
  return (
    <Dialog title={words.editTitle(name)} onClose={props.onClose}>
      <Unloaded error={error} reload={reload} lines={4} />
    </Dialog>
  );
};

type EditFormProps = Omit<HostDialogProps, 'host'> & { present: { data: Host; version: string | undefined } };

const EditForm = ({ present, onClose, onChanged }: EditFormProps) => {
  const { data: host, version } = useSeen(present);
  const tags = useSignal(host.tags.join(', '));
  const aliases = useSignal(host.aliases.join(', '));
  const note = useSignal(host.note);
  const dependsOn = useSignal(host.dependsOn.join(', '));
  const submission = useSubmission(async () => {
    const changes = {
      tags: readList(tags.value),
      aliases: readList(aliases.value),
      note: note.value.trim(),
      dependsOn: readList(dependsOn.value),
    };
    const seen = version === undefined ? {} : { ifMatch: version };
    await userClient.changeHost({ name: host.name, ...changes }, seen).finally(onChanged);
    notify(words.saved(host.name));
    onClose();
  });
  return (
    <FormDialog title={words.editTitle(host.name)} action={words.saveAction} onClose={onClose} {...submission}>
      <Field label={words.tags} hint={words.tagsHint} {...exact} {...bind(tags)} />
      <Field label={words.aliases} hint={words.aliasesHint} {...exact} {...bind(aliases)} />
      <Field label={words.note} {...bind(note)} />
      <Field label={text.dependsOn} hint={text.dependsOnHint} {...exact} {...bind(dependsOn)} />
    </FormDialog>
  );
};

const RemoveHost = ({ host: { name }, onClose, onChanged }: HostDialogProps) => {
  const submission = useSubmission(async () => {
    await userClient.deleteHost({ name }).finally(onChanged);
    notify(words.removed(name));
    goTo('/hosts');
  });
  return (
    <FormDialog title={words.removeTitle(name)} action={words.remove} onClose={onClose} {...submission}>
      <p>{words.removeHint}</p>
    </FormDialog>
  );
};
