import type { ComponentChildren, ComponentType } from 'preact';
import { toCount } from '../format.ts';
import { useSeen } from '../live/conditional.ts';
import { useResource } from '../live/resource.ts';
import { useSubmission } from '../live/submission.ts';
import { goTo, place, setParams } from '../router.ts';
import { isAllowed, type RouteName } from '../routes.ts';
import { text } from '../strings/index.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { Dialog, FormDialog } from '../ui/dialog.tsx';
import { type Fact, Facts, toDoneBy } from '../ui/facts.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Empty, Failure, Unloaded } from '../ui/panel.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';
import { notify } from '../ui/toast.tsx';
import { describeOrigin, type Kind, type RuntimeSetting } from './runtime-setting.ts';

export interface FormProps<T> {
  /** Item being edited. Undefined for a new one. */
  before?: T;
  onClose: () => void;
  /** Reloads the list. */
  onChanged: () => void;
}

interface SectionProps<T extends RuntimeSetting> {
  kind: Kind;
  load: (signal: AbortSignal) => Promise<{ data: readonly T[] }>;
  columns: Column<T>[];
  /** Badge next to the name. */
  Mark?: ComponentType<T>;
  /** One-line summary. */
  describe: (item: T) => ComponentChildren;
  toFacts: (item: T) => Fact[];
  Form: ComponentType<FormProps<T>>;
  createRoute: RouteName;
  /** False for items that can be deleted but not changed. */
  isChangeable?: boolean;
  remove: (item: T) => Promise<unknown>;
  /** Further actions for an item. `onChanged` reloads the list. */
  More?: ComponentType<T & { onChanged: () => void }>;
}

const close = (): void => goTo(`/settings${place.value.rest && `/${place.value.rest}`}`);

/** List of one kind of runtime setting. The URL names the item that is open in a dialog. */
export const Section = <T extends RuntimeSetting>(props: SectionProps<T>) => {
  const { kind, load, Form, createRoute } = props;
  const { value, error, reload } = useResource(load, { key: kind, isKept: true });
  const { new: isNew, open, edit, delete: removed } = place.value.params;
  const find = (name: string) => value?.data.find((item) => item.name === name);
  const create = isAllowed(createRoute) ? () => goTo(`/settings/${kind}`, { new: '1' }) : undefined;
  useCommands(create ? [{ title: words.create[kind], icon: 'plus', run: create }] : [], [kind]);
  if (!value) return <Unloaded error={error} reload={reload} lines={8} />;
  const shared = { onClose: close, onChanged: reload };
  const [changed, deleted] = [edit ? find(edit) : undefined, removed ? find(removed) : undefined];
  return (
    <>
      {error && <Failure error={error} onRetry={reload} />}
      <List {...props} rows={value.data} onCreate={create} />
      {isNew && <Form {...shared} />}
      {changed && <Form key={changed.name} before={changed} {...shared} />}
      {open && <Details {...props} name={open} item={find(open)} onChanged={reload} />}
      {deleted && <Removal {...props} item={deleted} onChanged={reload} />}
    </>
  );
};

interface ListProps<T extends RuntimeSetting> extends SectionProps<T> {
  rows: readonly T[];
  onCreate: (() => void) | undefined;
}

const List = <T extends RuntimeSetting>({ kind, columns, Mark, describe, rows, onCreate }: ListProps<T>) => {
  const button = onCreate && <IconButton icon="plus" kind="primary" label={words.create[kind]} onClick={onCreate} />;
  if (rows.length === 0) {
    return (
      <Empty title={words.none[kind]} hint={words.hints[kind]}>
        {button}
      </Empty>
    );
  }
  const Name = (item: T) => (
    <>
      <button type="button" class="link" title={item.name} onClick={() => setParams({ open: item.name })}>
        {item.name}
      </button>{' '}
      {Mark && <Mark {...item} />}
    </>
  );
  const all: Column<T>[] = [
    { key: 'name', title: words.name, cell: Name },
    ...columns,
    { key: 'origin', title: words.origin, width: '11rem', cell: describeOrigin },
  ];
  return (
    <>
      <p class="hint">{words.hints[kind]}</p>
      <div class="list-head">
        <ListCount>{words.count[kind](toCount(rows.length))}</ListCount>
        {button}
      </div>
      <Table
        label={words.sections[kind]}
        columns={all}
        rows={rows}
        rowKey={({ name }) => name}
        compact={(item) => (
          <TwoLines
            title={<Name {...item} />}
            hint={
              <>
                {describe(item)} · {describeOrigin(item)}
              </>
            }
          />
        )}
      />
    </>
  );
};

/** Explanations of why an item cannot be changed. */
const originHints = {
  config: text.configHint,
  temporary: words.temporaryHint,
  destinations: words.derivedHint,
};

type DetailsProps<T extends RuntimeSetting> = SectionProps<T> & {
  name: string;
  item: T | undefined;
  onChanged: () => void;
};

const Details = <T extends RuntimeSetting>({
  kind,
  name,
  item,
  toFacts,
  isChangeable,
  createRoute,
  More,
  onChanged,
}: DetailsProps<T>) => (
  <Dialog title={`${words.one[kind]} ${name}`} kind="drawer" onClose={close}>
    {item ? (
      <article class="alert">
        {item.origin !== 'made' && <p class="note">{originHints[item.origin]}</p>}
        <Facts facts={[...toFacts(item), [text.changed, toDoneBy(item.updatedBy, item.updatedAt)]]} />
        {More && <More {...item} onChanged={onChanged} />}
        {item.origin === 'made' && isAllowed(createRoute) && (
          <div class="actions">
            {isChangeable && (
              <IconButton icon="edit" label={words.edit} onClick={() => setParams({ open: undefined, edit: name })} />
            )}
            <IconButton
              icon="trash"
              label={words.delete}
              onClick={() => setParams({ open: undefined, delete: name })}
            />
          </div>
        )}
      </article>
    ) : (
      <Empty title={words.missing(words.one[kind], name)} hint={words.missingHint} />
    )}
  </Dialog>
);

/** Asks for confirmation of a deletion. A deletion cannot be undone. */
const Removal = <T extends RuntimeSetting>({
  kind,
  item,
  remove,
  onChanged,
}: SectionProps<T> & { item: T; onChanged: () => void }) => {
  const seen = useSeen(item);
  const { name } = seen;
  const submission = useSubmission(async () => {
    await remove(seen).finally(onChanged);
    notify(words.deleted(name));
    close();
  });
  return (
    <FormDialog title={words.deleteTitle(name)} action={words.deleteAction} onClose={close} {...submission}>
      <p>{words.remove[kind](name)}</p>
    </FormDialog>
  );
};
