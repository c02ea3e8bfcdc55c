import { useSignal } from '@preact/signals';
import type { CreatedKey, Key } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toFull } from '../format.ts';
import { toIfMatch } from '../live/conditional.ts';
import { useSubmission } from '../live/submission.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { Chip } from '../ui/chip.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog, FormDialog } from '../ui/dialog.tsx';
import { bind, CheckBox, exact, Field } from '../ui/field.tsx';
import type { Column } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { type FormProps, Section } from './section.tsx';

const LastUse = ({ lastUsedAt, isUnused }: Key) => {
  if (isUnused) {
    return (
      <Chip tone="warning" icon="warning">
        {words.unused}
      </Chip>
    );
  }
  return lastUsedAt ? <Ago time={lastUsedAt} /> : words.never;
};

const columns: Column<Key>[] = [
  { key: 'scopes', title: words.scopes, cell: ({ scopes }) => scopes.join(', ') },
  { key: 'use', title: words.lastUse, width: '12rem', cell: LastUse },
];

/** Keys for programs. */
export const KeysSection = () => (
  <Section
    kind="keys"
    load={(signal) => client.listKeys(undefined, { signal })}
    columns={columns}
    describe={(key) => (
      <>
        {words.lastUse}: <LastUse {...key} /> · {key.scopes.join(', ')}
      </>
    )}
    toFacts={({ scopes, lastUsedAt, isUnused }) => [
      [words.scopes, scopes.map((scope) => `${scope}: ${words.scopeHints[scope]}`).join('\n')],
      [
        words.lastUse,
        [lastUsedAt ? toFull(new Date(lastUsedAt)) : words.never, isUnused && words.unusedHint]
          .filter(Boolean)
          .join('\n'),
      ],
    ]}
    Form={KeyForm}
    createRoute="createKey"
    remove={(key) => userClient.deleteKey({ key: key.name }, toIfMatch(key))}
  />
);

type Scope = Key['scopes'][number];

const KeyForm = ({ onClose, onChanged }: FormProps<Key>) => {
  const name = useSignal('');
  const scopes = useSignal<Scope[]>(['alerts:write']);
  const created = useSignal<CreatedKey | undefined>(undefined);
  const submission = useSubmission(async () => {
    if (scopes.value.length === 0) throw new Error(words.noScope);
    created.value = await userClient.createKey({ name: name.value.trim(), scopes: scopes.value });
    onChanged();
  });
  if (created.value) return <NewKey created={created.value} onClose={onClose} />;
  return (
    <FormDialog title={words.create.keys} action={words.createAction} onClose={onClose} {...submission}>
      <Field label={words.name} hint={words.nameHint} {...exact} {...bind(name)} />
      <fieldset class="scopes">
        <legend>{words.scopes}</legend>
        {(Object.keys(words.scopeHints) as Scope[]).map((scope) => (
          <CheckBox
            key={scope}
            label={words.scopeHints[scope]}
            hint={scope}
            checked={scopes.value.includes(scope)}
            onValue={(isOn) => {
              const others = scopes.value.filter((each) => each !== scope);
              scopes.value = isOn ? [...others, scope] : others;
            }}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
};

/** Dialog that shows the new key. The key is never shown again. */
const NewKey = ({ created: { name, key }, onClose }: { created: CreatedKey; onClose: () => void }) => (
  <Dialog title={words.keyTitle(name)} onClose={onClose}>
    <div class="copied">
      <p class="note">{words.keyOnce}</p>
      <code class="example">{key}</code>
      <div class="actions">
        <CopyButton label={words.copyKey} value={() => key} />
        <button type="button" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </div>
  </Dialog>
);
