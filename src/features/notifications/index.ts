import { needs, openFor } from '../../auth/access.ts';
import { requireConfigured } from '../../config/settings-error.ts';
import { defineFeature, type Tool } from '../../kit/feature.ts';
import { findHubProblems, type HubSetting, hubSettings } from '../../kit/hub.ts';
import type { NotificationSource } from '../../kit/offers.ts';
import { findReachProblems, openReach, reachSettings } from '../../kit/reach.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import { createEventTopic, createPolledTopic } from '../../kit/topic.ts';
import { readOwnTimeZone, ZoneClock } from '../../lib/time-zone.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { openAcknowledgement } from './acknowledge/index.ts';
import { findDeliveryConcerns } from './concerns.ts';
import { createDeliveryList } from './delivery-list.ts';
import { assertReachable, destinationKind, listEntries } from './destination-kind.ts';
import { createDestinationRoutes } from './destination-routes.ts';
import { listSecretFiles } from './destinations/credentials.ts';
import { findNotificationProblems, toDestinationDefinition, toLinkedDestination } from './destinations/definition.ts';
import { openEscalation } from './escalation/index.ts';
import { escalationSettings, findEscalationProblems } from './escalation/settings.ts';
import { toHubDestination } from './hub-destination.ts';
import { Mailer } from './message/mailer.ts';
import { sendTest } from './message/test-message.ts';
import { addDeliveryMeters } from './meters.ts';
import { createAbsenceRoutes } from './oncall/absence-routes.ts';
import { Absences } from './oncall/absences.ts';
import { CalendarAddresses } from './oncall/calendar-addresses.ts';
import { createCalendarRoutes } from './oncall/calendar-routes.ts';
import { DeclinedProposals } from './oncall/declined-proposals.ts';
import { GapWatch } from './oncall/gap-watch.ts';
import { createLoadRoutes } from './oncall/load-routes.ts';
import { openRotations } from './oncall/open-rotations.ts';
import { RecordedMessages } from './oncall/recorded-messages.ts';
import { findRotationProblems } from './oncall/rotation-problems.ts';
import { createRotationRoutes } from './oncall/rotation-routes.ts';
import { createOnCallRoutes, listOnCall } from './oncall/routes.ts';
import { OnCallList } from './oncall/schema.ts';
import { rotationSettings } from './oncall/settings.ts';
import { ShiftMessages } from './oncall/shift-messages.ts';
import { WeeklyReport, weeklyReportKind } from './oncall/weekly-report.ts';
import { openDestinations } from './open-destinations.ts';
import { People } from './people/people.ts';
import { createWayCodes } from './people/proof.ts';
import { deleteOwned, isSameUser } from './people/removal.ts';
import { createPersonRoutes } from './people/routes.ts';
import { sendToPerson } from './people/send-text.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import { IncidentDestinations } from './plan/incident-destinations.ts';
import { Notifier } from './plan/notifier.ts';
import { createDeliveryRoutes } from './routes.ts';
import { DeliveryList } from './schema.ts';
import { type DestinationSettings, type NotificationSettings, notificationSettings } from './settings.ts';

/** Warning in the start message and the console on a server that notifies nobody. */
const quietWarning = 'Warning: the setting quiet is on. This server sends no alerts and notifies nobody of incidents.';

/** Milliseconds between two polls of the delivery status while a client listens. */
const deliveriesInterval = 1000;

/**
 * Defines `signalbox test-destination NAME`. It sends an alert without storing it, and prints the receiver's response.
 */
const testDestination: Tool = {
  name: 'test-destination',
  argument: { name: 'NAME' },
  summary: 'send a test alert to a destination of the config file and print the response',
  run: async (name, readSettings) => {
    const configured = readSettings()['destinations'] as DestinationSettings[];
    const definition = toDestinationDefinition(requireConfigured(configured, 'destination', name));
    const { isDelivered, response } = await sendTest(definition, () => new Date());
    return { output: `${isDelivered ? 'delivered' : 'not delivered'}: ${response}`, ok: isDelivered };
  },
};

/** Feature that delivers alerts and incident notifications to destinations, with on-call rotations. */
export const notifications = defineFeature({
  name: 'notifications',
  needs: ['settings', 'alerts', 'silences', 'incidents'],
  profiles: [
    // In version 1.0, these routes belonged to the profile `alerts`.
    { name: 'notifications', aliases: ['alerts', 'X'], mounts: ['/'], summary: 'delivery of alerts to destinations' },
    {
      name: 'oncall',
      aliases: ['incidents', 'notifications'],
      mounts: ['/'],
      summary: 'rotations, shifts and overrides of people on call',
      fixedAccess: 'closed',
    },
  ],
  settings: { ...notificationSettings, ...rotationSettings, ...escalationSettings, ...reachSettings, ...hubSettings },
  findProblems: (settings) => [
    ...(findHubProblems(settings).length > 0 ? [] : findNotificationProblems(addHub(settings))),
    ...findRotationProblems(settings),
    ...findEscalationProblems(settings),
    ...findReachProblems(settings.watchTargets),
  ],
  listSecretFiles,
  tools: [testDestination],
  create: async (parts) => {
    const { offers, storage, clock, log, meters } = parts;
    const settings = addHub(parts.settings);
    const { database } = storage;
    const { alerts, incidents, silences } = offers;
    const onCallParts = openRotations(settings.rotations, parts);
    const { rotations, overrides } = onCallParts;
    const reach = openReach(settings.watchTargets);
    const keeper = new SettingKeeper(destinationKind, {
      settings: offers.settings,
      configured: settings.destinations,
      check: (known) => assertReachable(known, reach),
      onUnusable: (name, err) =>
        log.error({ err, name }, 'destinations: a stored destination cannot be used and gets no messages'),
    });
    const onUnusable = (name: string, err: Error): void =>
      log.error({ err, name }, 'notifications: a stored setting cannot be used and has no effect');
    const people = new People({
      settings: offers.settings,
      reach,
      clock,
      users: offers.accounts,
      findMail: () => {
        const known = keeper.list().find(({ settings: { type } }) => type === 'email');
        return known && { settings: known.settings, isRuntimeSetting: known.setting !== undefined };
      },
      onUnusable,
    });
    const escalation = await openEscalation({
      settings: offers.settings,
      configured: settings,
      rotations,
      people,
      listDestinations: () => keeper.list().flatMap(({ settings: one }) => (one.notify === 'incidents' ? [one] : [])),
      silences,
      incidents,
      clock,
      onUnusable,
    });
    const { quiet: isQuiet } = settings;
    const mayNotify = () =>
      keeper.list().some(({ settings: { notify } }) => notify === 'incidents') ||
      people.ways.list().length > 0 ||
      escalation.hasPolicies();
    // An instance that notifies nobody must not take the lease from instances that do.
    const lease = database && !isQuiet ? createLease(database, 'incident-notifications', mayNotify) : ownLease;
    const onCallLease = database && !isQuiet ? createLease(database, 'oncall') : ownLease;
    const gaps = new GapWatch({
      rotations,
      alerts,
      lease: onCallLease,
      countUnknown: onCallParts.countUnknown,
      clock,
      log,
    });
    const addresses = new CalendarAddresses(offers.settings, clock);
    const { escalations } = escalation;
    const incidentDestinations = new IncidentDestinations();
    const notifier = new Notifier({
      source: incidents,
      destinations: incidentDestinations,
      silences,
      onCall: rotations,
      escalations,
      lease,
      clock,
      log,
    });
    escalation.onChanged(() => notifier.replanSoon());
    const onCall = createEventTopic(openFor('incidents:read'), OnCallList);
    const publishOnCall = (): void => onCall.publish(() => listOnCall(rotations, overrides, clock().getTime()));
    rotations.onChanged(() => {
      notifier.replanSoon();
      publishOnCall();
    });
    // Absences change the proposed overrides.
    const absences = new Absences({ settings: offers.settings, reach, clock, onChanged: publishOnCall });
    const acknowledgement = await openAcknowledgement({
      ...parts,
      incidents,
      publicUrl: settings.publicUrl,
      findDestination: (name) => {
        const way = people.ways.find(name);
        if (way) return toLinkedDestination(people.definitionOf(way).settings, way.setting.createdAt);
        const known = keeper.find(name);
        return known && toLinkedDestination(known.settings, known.setting?.createdAt);
      },
    });
    const links = { publicUrl: settings.publicUrl, toUrl: acknowledgement.toUrl };
    const listAll = () => ({ ...listEntries(keeper), ways: people.listDefinitions() });
    const entries = { ...listAll(), outboxRetainBytes: settings.outboxRetainBytes };
    const destinations = isQuiet
      ? undefined
      : await openDestinations(entries, alerts, { ...parts, links, reach, silences, notifier, incidentDestinations });
    const messages = new RecordedMessages({
      settings: offers.settings,
      send: (person, text, isNeeded) => {
        const ways = (destinations?.list() ?? []).filter((one) => one instanceof IncidentDestination);
        return sendToPerson(ways, person, text, isNeeded);
      },
      clock,
      log,
    });
    // The instance that sends notifications also has the queues of the ways.
    const messageParts = { rotations, settings: offers.settings, messages, incidents, lease, clock };
    const shiftMessages = new ShiftMessages({ ...messageParts, silences });
    const zoneOf = (person: string) => new ZoneClock(people.people.find(person)?.timeZone ?? readOwnTimeZone());
    let isReporting = settings.weeklyReport;
    const weeklyReport = new WeeklyReport({
      ...messageParts,
      listReachable: () => people.listReachable(),
      zoneOf,
      isEnabled: () => isReporting,
    });
    const apply = async (): Promise<void> => {
      people.reset();
      escalations.reset();
      await destinations?.reload(listAll());
    };
    keeper.onChanged(apply);
    people.onChanged(apply);
    onUsersChanged(people, offers.accounts, apply);
    offers.accounts?.onRemoval(async (user, by) => {
      await people.deleteOf(user, by);
      await addresses.deleteOf(user, by);
      await offers.settings.delete(weeklyReportKind, user, by);
      await deleteOwned(absences.settings, ({ name }) => isSameUser(name, user), by);
    });
    const list = () => destinations?.list() ?? [];
    addDeliveryMeters(meters, list, clock);
    const listDeliveries = createDeliveryList(list, alerts.own, notifier, clock, isQuiet);
    const mailer = new Mailer(
      () => (isQuiet ? undefined : keeper.list().find(({ settings: { type } }) => type === 'email')),
      reach,
    );
    const source: NotificationSource = {
      mailer,
      repeatAfterMs: () => destinations?.repeatAfterMs(),
      deliveriesOf: (record) => destinations?.deliveriesOf(record) ?? [],
      describe: (incident) => notifier.describe(incident),
      listPeople: () => people.listUsers()?.map(({ name }) => name),
      describeEscalation: (incident) => escalation.describe(incident),
      nextStep: (incident) => escalations.next(incident, clock().getTime()),
    };
    return {
      offers: { notifications: source },
      profiles: {
        notifications: [
          ...createDeliveryRoutes({
            list,
            alerts: alerts.journal,
            incidents,
            listDeliveries,
            clock,
            reach,
            isQuiet,
          }),
          ...createDestinationRoutes(keeper),
          ...acknowledgement.routes,
        ],
        oncall: [
          ...createOnCallRoutes({ rotations, overrides, clock }),
          ...createRotationRoutes(onCallParts.keeper, rotations, clock),
          ...escalation.routes,
          ...createPersonRoutes({
            people,
            codes: createWayCodes(acknowledgement.keys, clock),
            reach,
            clock,
            isQuiet,
          }),
          ...createLoadRoutes({ incidents, zoneOf, accounts: offers.accounts, clock }),
          ...createAbsenceRoutes({
            absences,
            rotations,
            overrides,
            declined: new DeclinedProposals(offers.settings, publishOnCall),
            accounts: offers.accounts,
            clock,
          }),
          ...createCalendarRoutes({
            addresses,
            keeper: onCallParts.keeper,
            rotations,
            overrides,
            accounts: offers.accounts,
            clock,
          }),
        ],
      },
      topics: {
        deliveries: createPolledTopic(needs('notifications:read'), DeliveryList, deliveriesInterval, listDeliveries, {
          onlyChanges: true,
        }),
        oncall: { ...onCall.topic, profile: 'oncall' },
      },
      notices: [...listLinkNotices(settings), ...onCallParts.notices],
      warning: isQuiet ? quietWarning : undefined,
      findConcerns: () =>
        isQuiet
          ? [{ area: 'deliveries', severity: 'WARNING', text: 'The setting quiet is on: nobody is notified' }]
          : [
              ...findDeliveryConcerns(list(), clock()),
              ...gaps.findConcerns(),
              ...escalation.findConcerns(),
              ...people.findConcerns(),
            ],
      start: () => {
        if (isQuiet) return;
        gaps.start();
        shiftMessages.start();
        weeklyReport.start();
        absences.start();
      },
      reload: (changed) => {
        reach.change(changed.watchTargets);
        keeper.configure(addHub(changed).destinations);
        const rotationNotices = onCallParts.configure(changed.rotations);
        escalation.reload(changed);
        isReporting = changed.weeklyReport;
        const quietNotice = 'Warning: quiet has changed. Restart the server to apply it.';
        return [...rotationNotices, ...(changed.quiet === isQuiet ? [] : [quietNotice])];
      },
      close: async () => {
        shiftMessages.close();
        weeklyReport.close();
        await absences.close();
        await gaps.close();
        await mailer.close();
        await destinations?.close();
        await messages.close();
        await notifier.close();
        await lease.close();
        await onCallLease.close();
      },
    };
  },
});

/** Calls the listener when users are created or deleted. */
const onUsersChanged = (
  people: People,
  users: { onChanged(listener: () => void): void } | undefined,
  listener: () => void,
): void => {
  const list = (): string => JSON.stringify(people.listUsers()?.map(({ name }) => name));
  let known = list();
  users?.onChanged(() => {
    const changed = list();
    if (changed === known) return;
    known = changed;
    listener();
  });
};

/** Adds the alert destination that the setting `hub` implies. */
const addHub = <S extends { destinations: DestinationSettings[]; hub?: HubSetting | undefined }>(settings: S): S => {
  const { destinations, hub } = settings;
  return hub ? { ...settings, destinations: [...destinations, toHubDestination(hub)] } : settings;
};

const listLinkNotices = ({ destinations, publicUrl }: NotificationSettings): string[] => {
  const hasNotifications = destinations.some(({ notify = 'alerts' }: { notify?: string }) => notify !== 'alerts');
  return hasNotifications && publicUrl === undefined
    ? ['Notifications contain no links to open or acknowledge incidents: set publicUrl']
    : [];
};
