import { useSignal } from '@preact/signals';
import { client } from '../api.ts';
import { toIncidentHash } from '../live/active-incidents.ts';
import { useResource } from '../live/resource.ts';
import { session } from '../session.ts';
import { text } from '../strings/index.ts';
import { onCallTexts as words } from '../strings/oncall.ts';
import { Choice } from '../ui/field.tsx';
import { Panel, Unloaded } from '../ui/panel.tsx';

/** Number of weeks shown. The response has more. */
const shownWeeks = 4;

/** Pages and disturbed nights per week, for the current user or for a person chosen by an Admin. */
export const LoadPanel = () => {
  const own = session.value?.name ?? '';
  const person = useSignal(own);
  const isAdmin = session.value?.role === 'Admin';
  const load = async (signal: AbortSignal) => {
    const [{ weeks }, { data }] = await Promise.all([
      client.getPersonLoad({ person: person.value }, { signal }),
      isAdmin ? client.listPeople(undefined, { signal }) : { data: [] },
    ]);
    return { weeks: weeks.slice(0, shownWeeks), people: data.map(({ name }) => name) };
  };
  const { value, error, reload } = useResource(load, { key: person.value, isKept: true });
  return (
    <Panel title={words.load}>
      {isAdmin && (
        <Choice
          label={words.person}
          value={person.value}
          options={[...new Set([own, ...(value?.people ?? [])])].map((name) => [name, name])}
          onValue={(chosen) => {
            person.value = chosen;
          }}
        />
      )}
      {value ? (
        <table class="plain load" aria-label={words.load}>
          <thead>
            <tr>
              <th scope="col">{words.week}</th>
              <th scope="col" class="end">
                {words.pages}
              </th>
              <th scope="col" class="end">
                {words.nights}
              </th>
              <th scope="col">{words.notActedOn}</th>
            </tr>
          </thead>
          <tbody>
            {value.weeks.map(({ week, pages, nights, notActedOn }) => (
              <tr key={week}>
                <td>{week}</td>
                <td class="end">{pages}</td>
                <td class="end">{nights}</td>
                <td>
                  {notActedOn.map((incident) => (
                    <span key={incident.number}>
                      <a href={toIncidentHash(incident)} title={incident.title}>
                        {text.incidents.named(`${incident.number}`)}
                      </a>{' '}
                    </span>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <Unloaded error={error} reload={reload} lines={shownWeeks} />
      )}
      <p class="hint">{words.loadHint}</p>
    </Panel>
  );
};
