import type { Destination } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toIfMatch } from '../live/conditional.ts';
import { isMounted } from '../routes.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { DestinationTest } from '../ui/destination-test.tsx';
import type { Column } from '../ui/table.tsx';
import type { DestinationKind } from './destination-draft.ts';
import { DestinationForm } from './destination-form.tsx';
import { Section } from './section.tsx';

const toType = ({ settings: { type } }: Destination): string => words.types[type as DestinationKind] ?? type;

/** Describes the filter in words: `Each alert · CRITICAL, ERROR · backup*`. */
const toGets = ({ settings: { notify = 'alerts', levels, sources } }: Destination): string =>
  [words.notifies[notify], levels?.join(', '), sources?.join(', ')].filter(Boolean).join(' · ');

const columns: Column<Destination>[] = [
  { key: 'type', title: words.type, width: '11rem', cell: toType },
  {
    key: 'address',
    title: words.address,
    width: '13rem',
    isMinor: true,
    cell: ({ settings: { url } }) => <bdi>{url}</bdi>,
  },
  { key: 'gets', title: words.gets, cell: (destination) => <bdi>{toGets(destination)}</bdi> },
];

/** Destinations for alerts and notifications. */
export const DestinationsSection = () => (
  <Section
    kind="destinations"
    load={(signal) => client.listDestinations(undefined, { signal })}
    columns={columns}
    describe={toType}
    toFacts={(destination) => [
      [words.type, toType(destination)],
      [words.address, destination.settings.url],
      [words.gets, toGets(destination)],
    ]}
    Form={DestinationForm}
    createRoute="putDestination"
    isChangeable
    remove={(destination) => userClient.deleteDestination({ destination: destination.name }, toIfMatch(destination))}
    More={More}
  />
);

const More = ({ name }: Destination) => (
  <DestinationTest name={name}>
    {isMounted('listDeliveries') && (
      <a class="button" href="#/notifications">
        {words.state}
      </a>
    )}
  </DestinationTest>
);
