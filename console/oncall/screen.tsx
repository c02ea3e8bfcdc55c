import { useSignal } from '@preact/signals';
import type { OnCall, Rotation } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toShortDay } from '../format.ts';
import { toIfMatch } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { place, setParams } from '../router.ts';
import { isAllowed, isReadable } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { onCallTexts as words } from '../strings/oncall.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Empty, Panel, Unloaded } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';
import { AbsenceDialog } from './absence-dialog.tsx';
import { AddressDialog } from './address-dialog.tsx';
import { RotationCalendar } from './calendar.tsx';
import { LoadPanel } from './load-panel.tsx';
import { ProposalsPanel } from './proposals.tsx';
import { RotationForm } from './rotation-form.tsx';
import { listDays } from './weeks.ts';

/** Reads the page number from the URL. A page shows four weeks. Page 0 begins this week. */
const readPage = (): number => Math.max(-60, Math.min(60, Math.trunc(Number(place.value.params['page']) || 0)));

const showPage = (page: number): void => setParams({ page: page === 0 ? undefined : `${page}` }, { replace: true });

const OnCallScreen = () => {
  const load = async (signal: AbortSignal) => {
    const [{ data: present }, { data: rotations }] = await Promise.all([
      client.getOnCall({}, { signal }),
      client.listRotations(undefined, { signal }),
    ]);
    return { present, rotations };
  };
  const { value, error, reload } = useResource(load, { topic: 'oncall' });
  const page = readPage();
  if (!value) return <Unloaded error={error} reload={reload} lines={12} />;
  if (value.present.length === 0) return <Empty title={words.none} hint={words.noneHint} />;
  return (
    <div class="list">
      {isReadable('listOverrideProposals') && <ProposalsPanel />}
      {value.present.map((onCall) => {
        const rotation = value.rotations.find(({ name }) => name === onCall.rotation);
        return (
          rotation && (
            <RotationPanel key={onCall.rotation} onCall={onCall} rotation={rotation} page={page} onChanged={reload} />
          )
        );
      })}
      <p class="hint">{words.keysHint}</p>
      {isReadable('getPersonLoad') && <LoadPanel />}
    </div>
  );
};

interface PanelProps {
  onCall: OnCall;
  rotation: Rotation;
  page: number;
  onChanged: () => void;
}

const RotationPanel = ({ onCall, rotation, page, onChanged }: PanelProps) => {
  const dialog = useSignal<'edit' | 'remove' | 'addresses' | undefined>(undefined);
  const close = (): void => {
    dialog.value = undefined;
  };
  const { name, origin } = rotation;
  const isEditable = origin === 'made' && isAllowed('putRotation');
  return (
    <Panel title={name} kind="rotation">
      <RotationCalendar
        onCall={onCall}
        holidays={rotation.holidays}
        page={page}
        onPage={showPage}
        onChanged={onChanged}
      />
      <div class="actions">
        {isEditable && (
          <>
            <IconButton
              icon="edit"
              label={words.edit}
              name={words.editOf(name)}
              onClick={() => (dialog.value = 'edit')}
            />
            <IconButton
              icon="trash"
              label={words.remove}
              name={words.removeOf(name)}
              onClick={() => (dialog.value = 'remove')}
            />
          </>
        )}
        {isReadable('createRotationCalendarAddress') && (
          <IconButton
            icon="link"
            label={words.addresses}
            name={words.addressesOf(name)}
            onClick={() => (dialog.value = 'addresses')}
          />
        )}
        {origin === 'config' && isAllowed('putRotation') && <span class="hint">{words.isConfigured}</span>}
      </div>
      {dialog.value === 'edit' && <RotationForm rotation={rotation} onSaved={onChanged} onClose={close} />}
      {dialog.value === 'remove' && <RemoveDialog rotation={rotation} onRemoved={onChanged} onClose={close} />}
      {dialog.value === 'addresses' && <AddressDialog rotation={name} onClose={close} />}
    </Panel>
  );
};

interface RemoveProps {
  rotation: Rotation;
  onRemoved: () => void;
  onClose: () => void;
}

const RemoveDialog = ({ rotation, onRemoved, onClose }: RemoveProps) => {
  const { name } = rotation;
  const { isRunning, run } = useRun(async () => {
    await userClient.deleteRotation({ rotation: name }, toIfMatch(rotation)).finally(onRemoved);
    notify(words.removed);
    onClose();
  });
  return (
    <FormDialog
      title={words.isRemoving(name)}
      action={words.remove}
      onSubmit={run}
      isDisabled={isRunning}
      onClose={onClose}
    >
      <p>{words.isRemovingHint}</p>
    </FormDialog>
  );
};

/** Navigation in steps of four weeks, the user's calendar address, and a button for a new rotation. */
const OnCallControls = () => {
  const dialog = useSignal<'new' | 'addresses' | 'absences' | undefined>(undefined);
  const close = (): void => {
    dialog.value = undefined;
  };
  const page = readPage();
  const days = listDays(page);
  return (
    <div class="actions">
      <IconButton icon="back" label={words.earlier} onClick={() => showPage(page - 1)} />
      <span class="hint">{words.weeks(toShortDay(days[0] ?? 0), toShortDay((days.at(-1) ?? 1) - 1))}</span>
      {page !== 0 && <IconButton icon="clock" label={words.today} onClick={() => showPage(0)} />}
      <IconButton icon="next" label={words.later} onClick={() => showPage(page + 1)} />
      {isReadable('createPersonCalendarAddress') && (
        <IconButton icon="link" label={words.ownAddresses} onClick={() => (dialog.value = 'addresses')} />
      )}
      {isReadable('getAbsenceCalendar') && (
        <IconButton icon="clock" label={words.absences} onClick={() => (dialog.value = 'absences')} />
      )}
      {isAllowed('putRotation') && (
        <IconButton icon="plus" label={words.create} onClick={() => (dialog.value = 'new')} />
      )}
      {dialog.value === 'new' && <RotationForm rotation={undefined} onSaved={() => showPage(page)} onClose={close} />}
      {dialog.value === 'addresses' && <AddressDialog rotation={undefined} onClose={close} />}
      {dialog.value === 'absences' && <AbsenceDialog onClose={close} />}
    </div>
  );
};

export const onCallView: ScreenView = { Screen: OnCallScreen, Aside: OnCallControls };
