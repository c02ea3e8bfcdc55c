import { useSignal } from '@preact/signals';
import type { Announcement, Incident } from 'signalbox/client';
import { userClient } from '../api.ts';
import { useResource } from '../live/resource.ts';
import { useSubmission } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { Area, bind, Choice, Field } from '../ui/field.tsx';
import { notify } from '../ui/toast.tsx';
import { toIncidentName } from './actions.ts';

const words = text.incidents.announce;

type State = Announcement['state'];

const states = Object.entries(words.states) as [State, string][];

/** Dialog that announces an incident on a status page, or continues an open announcement of the incident. */
export const AnnounceDialog = ({ incident, onClose }: { incident: Incident; onClose: () => void }) => {
  const chosen = useSignal('');
  const title = useSignal('');
  const said = useSignal('');
  const chosenState = useSignal<State | undefined>(undefined);
  const { value } = useResource(async (signal) => {
    const [pages, announcements] = await Promise.all([
      userClient.listStatusPages(undefined, { signal }),
      userClient.listAnnouncements({ incident: incident.id }, { signal }),
    ]);
    const open = announcements.data.filter((one) => one.state !== 'resolved');
    return { open, pages: pages.data };
  });
  const options = [
    ...(value?.open ?? []).map((one): [string, string] => [one.id, words.update(one.title, one.page)]),
    ...(value?.pages ?? []).map((page): [string, string] => [page.name, words.newOn(page.title)]),
  ];
  const place = chosen.value || options[0]?.[0];
  const update = value?.open.find(({ id }) => id === place);
  const state = chosenState.value ?? update?.state ?? 'investigating';
  const submission = useSubmission(async () => {
    if (place === undefined) throw new Error(words.none);
    if (said.value.trim() === '') throw new Error(words.noText);
    const given = { text: said.value, state };
    if (update) await userClient.updateAnnouncement({ id: update.id, ...given });
    else await userClient.announceIncident({ id: incident.id, page: place, title: title.value, ...given });
    notify(words.done);
    onClose();
  });
  return (
    <FormDialog title={words.title(toIncidentName([incident]))} action={words.action} onClose={onClose} {...submission}>
      <p class="hint">{value && options.length === 0 ? words.none : words.hint}</p>
      {place !== undefined && (
        <Choice
          label={words.place}
          value={place}
          options={options}
          onValue={(each) => {
            chosen.value = each;
          }}
        />
      )}
      {!update && <Field label={words.heading} {...bind(title)} />}
      <Choice
        label={words.state}
        value={state}
        options={states}
        onValue={(each) => {
          chosenState.value = each as State;
        }}
      />
      <Area label={words.text} {...bind(said)} />
    </FormDialog>
  );
};
