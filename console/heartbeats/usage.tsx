import { useSignal } from '@preact/signals';
import type { Heartbeat } from 'signalbox/client';
import { session } from '../session.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { Segments } from '../ui/chip.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { type PingAddress, type RecipeKind, recipeKinds, toBadgeAddress, toPingAddress, toRecipe } from './recipes.ts';

/** Ping address with lines to paste. */
export const HeartbeatUsage = ({ heartbeat }: { heartbeat: Heartbeat }) => {
  const address = toPingAddress(heartbeat);
  if (!address) return null;
  return (
    <>
      <h3>{words.address}</h3>
      <div class="copied">
        <code class="example">{address.url}</code>
        <CopyButton label={words.copyAddress} value={() => address.url} />
      </div>
      <p class="hint">{toAddressHint(address)}</p>
      <Recipes heartbeat={heartbeat} address={address} />
    </>
  );
};

const toAddressHint = ({ isByName }: PingAddress): string => {
  if (!isByName) return words.addressHint;
  return session.value?.role === 'Admin' ? words.noAddress : words.byName;
};

const Recipes = ({ heartbeat, address }: { heartbeat: Heartbeat; address: PingAddress }) => {
  const kind = useSignal<RecipeKind>('cron');
  const lines = toRecipe(kind.value, address, heartbeat);
  return (
    <>
      <Segments
        label={words.recipes}
        value={kind.value}
        options={recipeKinds.map((each) => [each, words.kinds[each]] as const)}
        onValue={(each) => {
          kind.value = each;
        }}
      />
      <p class="hint">{words.recipeHints[kind.value]}</p>
      <div class="copied">
        <pre class="example">{lines}</pre>
        <CopyButton label={words.copyLines(words.kinds[kind.value])} value={() => lines} />
      </div>
    </>
  );
};

/** Badge of a heartbeat with a public badge. */
export const Badge = ({ heartbeat }: { heartbeat: Heartbeat }) => {
  const { name, state, open } = heartbeat;
  const address = toBadgeAddress(heartbeat);
  if (!address) return null;
  return (
    <>
      <h3>{words.badge}</h3>
      {open ? (
        <>
          {/* The address varies by state, because browsers cache images by address. */}
          <p class="badge">
            <img src={`${address}?${state}`} alt={words.badgeText(name, words.states[state])} height={20} />
          </p>
          <div class="copied">
            <code class="example">{address}</code>
            <CopyButton label={words.copyBadge} value={() => address} />
          </div>
          <p class="hint">{words.badgeHint}</p>
        </>
      ) : (
        <p class="hint">{words.noBadge}</p>
      )}
    </>
  );
};
