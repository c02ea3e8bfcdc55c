import { computed, signal, useSignal } from '@preact/signals';
import { useEffect, useId, useMemo } from 'preact/hooks';
import { text } from '../strings/index.ts';
import { Dialog } from './dialog.tsx';
import { Icon, type IconName } from './icon.tsx';
import { containsWords } from './list-filter.tsx';

export interface PaletteCommand {
  title: string;
  icon?: IconName;
  /** Equivalent shortcut, such as `g a`. */
  keys?: string;
  run: () => void;
}

export const isPaletteOpen = signal(false);

const groups = signal<PaletteCommand[][]>([]);
const commands = computed(() => groups.value.flat());

/** Adds commands to the palette while the component is shown. */
export const useCommands = (offered: PaletteCommand[], keys: unknown[] = []): void => {
  useEffect(() => {
    groups.value = [...groups.peek(), offered];
    return () => {
      groups.value = groups.peek().filter((each) => each !== offered);
    };
  }, keys);
};

/** Dialog for finding and running commands by typing parts of their names. */
export const Palette = () => (isPaletteOpen.value ? <OpenPalette /> : null);

const close = (): void => {
  isPaletteOpen.value = false;
};

const OpenPalette = () => {
  const query = useSignal('');
  const active = useSignal(0);
  const id = useId();
  const found = useMemo(
    () => commands.value.filter(({ title }) => containsWords(title, query.value)),
    [query.value, commands.value],
  );
  const run = (command: PaletteCommand | undefined) => {
    if (!command) return;
    close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) active.value = (active.value + step + found.length) % Math.max(1, found.length);
    else if (event.key === 'Enter') run(found[active.value]);
    else return;
    event.preventDefault();
    document.getElementById(`${id}-${active.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Dialog title={text.palette.title} kind="palette" onClose={close}>
      <input
        role="combobox"
        aria-label={text.palette.hint}
        placeholder={text.palette.hint}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${active.value}` : undefined}
        autocomplete="off"
        value={query.value}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
          active.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label={text.palette.title} tabIndex={-1}>
        {found.map((command, index) => (
          <div
            key={command.title}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active.value}
            onClick={() => run(command)}
            onKeyDown={onKeyDown}
          >
            <Icon name={command.icon ?? 'search'} />
            <span>{command.title}</span>
            {command.keys && <kbd>{command.keys}</kbd>}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="hint">{text.palette.none}</p>}
    </Dialog>
  );
};
