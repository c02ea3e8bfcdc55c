import type { Signal } from '@preact/signals';
import type { CreatedKey, Key } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toRelative } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { toHash } from '../router.ts';
import { isReadable } from '../routes.ts';
import { connectTexts as words } from '../strings/connect.ts';
import { Icon } from '../ui/icon.tsx';
import { Skeleton } from '../ui/panel.tsx';
import type { SenderName } from './senders.ts';

/** Stands for the key until there is one. */
export const noKey = 'KEY';

interface Props {
  sender: SenderName;
  made: Signal<CreatedKey | undefined>;
  /** Those that were made before; undefined until they are read. */
  keys: readonly Key[] | undefined;
}

/** Makes a key for a sender, or says which one there is. */
export const KeyStep = ({ sender, made, keys }: Props) => {
  const { isRunning, run } = useRun(async () => {
    made.value = await createKey(sender);
  });
  if (!keys && !made.value) return <Skeleton lines={2} />;
  const last = made.value ? undefined : keys?.[0];
  const lastUse = last?.lastUsedAt && toRelative(untilTime(Date.parse(last.lastUsedAt)));
  const hint = last ? words.knownHint(noKey) : words.keyHint;
  return (
    <>
      {/* No status: each second that passes would be read out. */}
      {last && <p>{words.known(last.name, lastUse ?? undefined)}</p>}
      <p class={last && 'hint'} role="status">
        {made.value ? words.created(made.value.name) : hint}
      </p>
      {made.value && sender === 'github' && <code class="example">{made.value.key}</code>}
      {!made.value && (
        <div class="actions">
          <button type="button" class={last ? '' : 'primary'} aria-disabled={isRunning} onClick={run}>
            <Icon name="plus" /> {last ? words.createAnother : words.createKey}
          </button>
          {last && (
            <a class="button" href={toHash('/settings/keys')}>
              {words.keys}
            </a>
          )}
        </div>
      )}
    </>
  );
};

/** The keys that this screen has made for a sender, the last used first; none for those who may not see them. */
export const useKeys = (sender: SenderName): readonly Key[] | undefined => {
  const load = async (signal: AbortSignal) => {
    const { data } = isReadable('listKeys') ? await client.listKeys(undefined, { signal }) : { data: [] };
    const isOurs = ({ name, scopes }: Key) => isNameOf(sender, name) && scopes.includes('alerts:write');
    return data.filter(isOurs).toSorted((one, other) => timeOf(other) - timeOf(one));
  };
  const { value, error } = useResource(load);
  return value ?? (error && []);
};

const timeOf = ({ lastUsedAt }: Key): number => Date.parse(lastUsedAt ?? '') || 0;

/** A key that may only send alerts, with the first name that is free: `grafana`, `grafana-2`. */
const createKey = async (sender: SenderName): Promise<CreatedKey> => {
  const { data } = await userClient.listKeys();
  const names = [sender, ...data.map((_, index) => `${sender}-${index + 2}`)];
  const name = names.find((each) => !data.some((key) => key.name === each)) ?? sender;
  return userClient.createKey({ name, scopes: ['alerts:write'] });
};

/** Whether a key may have been made for this sender. */
const isNameOf = (sender: SenderName, name: string): boolean =>
  name === sender || (name.startsWith(`${sender}-`) && /^\d+$/.test(name.slice(sender.length + 1)));
