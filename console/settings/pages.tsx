import { useSignal } from '@preact/signals';
import type { StatusPage } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { putSeen, toIfMatch, useSeen } from '../live/conditional.ts';
import { useSubmission } from '../live/submission.ts';
import { goTo } from '../router.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, bind, Choice, exact, Field } from '../ui/field.tsx';
import type { Column } from '../ui/table.tsx';
import { notify } from '../ui/toast.tsx';
import { parsePageGroups, writePageGroups } from './page-groups.ts';
import { LooksFields, toLooks, useLooks } from './page-looks.tsx';
import { type FormProps, Section } from './section.tsx';

const texts = words.pages;

const toAddress = ({ name }: StatusPage): string => `../status/${name}`;

const countChecks = ({ groups }: StatusPage): number => groups.reduce((sum, { checks }) => sum + checks.length, 0);

const columns: Column<StatusPage>[] = [
  { key: 'title', title: texts.title, cell: ({ title }) => <bdi>{title}</bdi> },
  { key: 'checks', title: texts.checks, isMinor: true, width: '8rem', cell: countChecks },
];

/** Form of a status page. */
const PageForm = ({ before: present, onClose, onChanged }: FormProps<StatusPage>) => {
  const before = useSeen(present);
  const name = useSignal(before?.name ?? '');
  const title = useSignal(before?.title ?? '');
  const groups = useSignal(before ? writePageGroups(before.groups) : texts.example);
  const language = useSignal(before?.language ?? 'en');
  const access = useSignal(before?.access ?? 'open');
  const looks = useLooks(before ?? {});
  const submission = useSubmission(async () => {
    const page = name.value.trim();
    if (page === '') throw new Error(words.noName);
    const body = {
      page,
      title: title.value,
      groups: parsePageGroups(groups.value),
      language: language.value,
      access: access.value,
      ...toLooks(looks),
    };
    const put = (options: object) => userClient.putStatusPage(body, options).finally(onChanged);
    await putSeen(put, before, texts.exists(page));
    notify(words.saved(page));
    goTo('/settings/pages', { open: page });
  });
  return (
    <FormDialog
      title={before ? `${words.change.pages} ${before.name}` : words.create.pages}
      action={before ? words.save : words.createAction}
      onClose={onClose}
      {...submission}
    >
      {!before && <Field {...exact} label={words.name} hint={texts.nameHint} {...bind(name)} />}
      <Field label={texts.title} {...bind(title)} />
      <Area label={texts.groups} hint={texts.groupsHint} lines={10} {...bind(groups)} />
      <Choice
        label={texts.language}
        value={language.value}
        options={Object.entries(texts.languages)}
        onValue={(each) => {
          language.value = each as typeof language.value;
        }}
      />
      <Choice
        label={texts.access}
        value={access.value}
        options={Object.entries(texts.accesses)}
        onValue={(each) => {
          access.value = each as typeof access.value;
        }}
      />
      <LooksFields {...looks} />
    </FormDialog>
  );
};

/** Status pages for people outside. */
export const PagesSection = () => (
  <Section
    kind="pages"
    load={(signal) => client.listStatusPages(undefined, { signal })}
    columns={columns}
    describe={({ title }) => title}
    toFacts={(page) => [
      [texts.title, page.title],
      [texts.address, <a href={toAddress(page)}>{`/status/${page.name}`}</a>],
      [texts.groups, writePageGroups(page.groups)],
      [texts.access, texts.accesses[page.access ?? 'open']],
      [texts.unknown, page.unknown.join(', ')],
    ]}
    Form={PageForm}
    createRoute="putStatusPage"
    isChangeable
    remove={(page) => userClient.deleteStatusPage({ page: page.name }, toIfMatch(page))}
  />
);
