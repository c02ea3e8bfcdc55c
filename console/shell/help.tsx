import { signal } from '@preact/signals';
import { singleKeys } from '../preferences.ts';
import { isMounted } from '../routes.ts';
import { listScreens } from '../screens.ts';
import { text } from '../strings/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckBox } from '../ui/field.tsx';

export const isHelpOpen = signal(false);

/** Dialog with the keyboard shortcuts. */
export const Help = () => {
  if (!isHelpOpen.value) return null;
  const general: (readonly [string, string])[] = [
    ['Ctrl K', text.keys.palette],
    ['/', text.keys.filter],
    ['j k', text.keys.rows],
    ['Enter', text.keys.openRow],
    ...(isMounted('listIncidents') ? ([['a s r c t', text.incidents.keys]] as const) : []),
    ['Esc', text.keys.escape],
    ['?', text.keys.help],
  ];
  const screens = listScreens().map(({ key, title }): [string, string] => [`g ${key}`, text.palette.goTo(title)]);
  return (
    <Dialog
      title={text.keys.title}
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <dl class="keys">
        {[...general, ...screens].map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <CheckBox
        label={text.keys.single}
        hint={text.keys.singleHint}
        checked={singleKeys.value}
        onValue={(checked) => {
          singleKeys.value = checked;
        }}
      />
    </Dialog>
  );
};
