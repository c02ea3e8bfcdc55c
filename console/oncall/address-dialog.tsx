import { useSignal } from '@preact/signals';
import type { CalendarAddress } from 'signalbox/client';
import { client, toAddress, userClient } from '../api.ts';
import { toMinute } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { onCallTexts as words } from '../strings/oncall.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';

/** Secret calendar addresses of a rotation or, without a rotation, of the user. */
export const AddressDialog = ({ rotation, onClose }: { rotation: string | undefined; onClose: () => void }) => {
  const created = useSignal<string | undefined>(undefined);
  const load = async (signal: AbortSignal): Promise<CalendarAddress[]> =>
    rotation === undefined
      ? (await client.listPersonCalendarAddresses({ person: 'me' }, { signal })).data
      : (await client.listRotationCalendarAddresses({ rotation }, { signal })).data;
  const { value, error, reload } = useResource(load);
  const { isRunning, run } = useRun(async () => {
    const { path } = await (rotation === undefined
      ? userClient.createPersonCalendarAddress({ person: 'me' })
      : userClient.createRotationCalendarAddress({ rotation }));
    created.value = toAddress(path);
    reload();
  });
  const revoke = async (address: string): Promise<void> => {
    await (rotation === undefined
      ? userClient.deletePersonCalendarAddress({ person: 'me', address })
      : userClient.deleteRotationCalendarAddress({ rotation, address }));
    notify(words.revoked);
    reload();
  };
  return (
    <Dialog title={words.addressesOf(rotation ?? words.ofMine)} onClose={onClose}>
      <p class="hint">{words.addressesHint}</p>
      {created.value && (
        <div class="note">
          <p>{words.newAddress}</p>
          <code class="secret-address">{created.value}</code>
          <CopyButton value={() => created.value ?? ''} />
        </div>
      )}
      {value ? (
        <ul class="calendar-addresses">
          {value.map(({ id, createdBy, createdAt }) => (
            <li key={id}>
              <span>{words.createdBy(createdBy, toMinute(Date.parse(createdAt)))}</span>
              <IconButton
                icon="trash"
                label={words.revoke}
                onClick={() => void revoke(id).catch((reason: Error) => notify(reason.message, { kind: 'failure' }))}
              />
            </li>
          ))}
        </ul>
      ) : (
        <Unloaded error={error} reload={reload} lines={2} />
      )}
      <div class="actions">
        <IconButton icon="plus" label={words.createAddress} kind="primary" isDisabled={isRunning} onClick={run} />
      </div>
    </Dialog>
  );
};
