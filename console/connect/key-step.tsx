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

/** Placeholder for the key in lines to paste. */
export const noKey = 'KEY';

interface Props {
  sender: SenderName;
  created: Signal<CreatedKey | undefined>;
  /** Existing keys. Undefined until loaded. */
  keys: readonly Key[] | undefined;
}

/** Creates a key for a sender, or names an existing key. */
export const KeyStep = ({ sender, created, keys }: Props) => {
  const { isRunning, run } = useRun(async () => {
    created.value = await createKey(sender);
  });
  if (!keys && !created.value) return <Skeleton lines={2} />;
  const last = created.value ? undefined : keys?.[0];
  const lastUse = last?.lastUsedAt && toRelative(untilTime(Date.parse(last.lastUsedAt)));
  const hint = last ? words.knownHint(noKey) : words.keyHint;
  return (
    <>
      {/* Not a live region: screen readers would read it out every second. */}
      {last && <p>{words.known(last.name, lastUse ?? undefined)}</p>}
      <p class={last && 'hint'} role="status">
        {created.value ? words.created(created.value.name) : hint}
      </p>
      {created.value && sender === 'github' && <code class="example">{created.value.key}</code>}
      {!created.value && (
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

/** Returns the keys that this screen created for a sender, most recently used first. Empty for users without access. */
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

/** Creates a key that can only send alerts. Uses the first free name: `grafana`, `grafana-2`. */
const createKey = async (sender: SenderName): Promise<CreatedKey> => {
  const { data } = await userClient.listKeys();
  const names = [sender, ...data.map((_, index) => `${sender}-${index + 2}`)];
  const name = names.find((each) => !data.some((key) => key.name === each)) ?? sender;
  return userClient.createKey({ name, scopes: ['alerts:write'] });
};

/** True if this screen may have created the key for this sender. */
const isNameOf = (sender: SenderName, name: string): boolean =>
  name === sender || (name.startsWith(`${sender}-`) && /^\d+$/.test(name.slice(sender.length + 1)));
