import type { OnCall } from 'signalbox/client';
import { createAddressChoice } from '../list-address.ts';
import { toHash } from '../router.ts';
import { isAllowed } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { IconLink } from '../ui/icon-button.tsx';
import { Empty, Skeleton, Unloaded } from '../ui/panel.tsx';
import { DestinationPanel } from './destination.tsx';
import { useDestinations } from './destinations.ts';
import { OnCallPanels, useOnCall } from './on-call.tsx';
import { SentList } from './sent.tsx';

const words = text.notifications;

const viewChoice = createAddressChoice('view', ['destinations', 'sent'], 'destinations', [
  'destination',
  'incident',
  'pages',
]);

/** Two views: people on call and destinations, and sent notifications. */
const NotificationsScreen = () =>
  viewChoice.read() === 'sent' && isAllowed('listNotifications') ? <SentList /> : <Present />;

const Present = () => {
  const onCall = useOnCall();
  const destinations = useDestinations();
  // Waits for rotations, because they would move the destinations when they appear.
  if (!onCall.value && !onCall.error) return <Skeleton lines={12} />;
  return (
    <div class="list">
      <OnCallPanels onCall={onCall} />
      <Destinations {...destinations} onCall={onCall.value?.rotations ?? []} />
    </div>
  );
};

type DestinationsProps = ReturnType<typeof useDestinations> & { onCall: readonly OnCall[] };

const Destinations = ({ value, error, reload, onCall }: DestinationsProps) => {
  if (!value) return <Unloaded error={error} reload={reload} lines={12} />;
  if (value.quiet) return <Empty title={words.quiet} hint={words.quietHint} />;
  if (value.data.length === 0) {
    return (
      <Empty title={words.none} hint={words.noneHint}>
        {canCreate() && <CreateLink />}
      </Empty>
    );
  }
  return (
    <div class="destinations">
      {value.data.map((destination) => (
        <DestinationPanel key={destination.destination} destination={destination} onCall={onCall} onRetried={reload} />
      ))}
    </div>
  );
};

const canCreate = (): boolean => isAllowed('putDestination');

const CreateLink = () => (
  <IconLink icon="plus" label={words.create} href={toHash('/settings/destinations', { new: '1' })} />
);

const NotificationControls = () => (
  <div class="actions">
    {isAllowed('listNotifications') && <AddressSegments label={words.show} choice={viewChoice} labels={words.views} />}
    {canCreate() && <CreateLink />}
  </div>
);

export const notificationsView: ScreenView = { Screen: NotificationsScreen, Aside: NotificationControls };
