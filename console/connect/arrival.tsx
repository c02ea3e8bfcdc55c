import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { AlertEntry } from 'signalbox/client';
import { client } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toRelative } from '../format.ts';
import { toAlertLine, toTimeOf } from '../live/alerts.ts';
import { subscribe } from '../live/live.ts';
import { useResource } from '../live/resource.ts';
import { isReadable } from '../routes.ts';
import { session } from '../session.ts';
import { connectTexts as words } from '../strings/connect.ts';
import { Facts } from '../ui/facts.tsx';

/** Number of newest alerts to search when events may have been missed. */
const mostRead = 100;
/** Maximum number of pages to search for an earlier alert. */
const mostPages = 10;

interface Props {
  format: string;
  /** Name of the key that was just created. */
  keyName: string | undefined;
  /** Names of keys created earlier for this sender. */
  earlierKeys: readonly string[];
}

/**
 * Waits for the first alert of a sender and shows the stored fields. Recognizes the alert by its key or, without a key,
 * by its format. Until the alert arrives, shows the latest earlier alert.
 */
export const Arrival = ({ format, keyName, earlierKeys }: Props) => {
  const found = useSignal<AlertEntry | undefined>(undefined);
  /** Seq of the newest known alert. */
  const known = useRef<number | undefined>(undefined);
  /** True once the current log position is known. Earlier alerts do not count. */
  const isReady = useSignal(false);
  const token = session.value?.token;
  useEffect(() => {
    found.value = undefined;
    const check = (alert: AlertEntry) => {
      known.current ??= alert.seq - 1;
      const isOurs = keyName === undefined ? alert.format === format : alert.sender === `key:${keyName}`;
      if (isOurs && alert.seq > known.current) found.value ??= alert;
    };
    const read = async () => {
      const page = await client.searchAlerts({ limit: mostRead }).catch(() => undefined);
      if (page) known.current ??= page.data[0]?.seq ?? -1;
      for (const alert of page?.data.toReversed() ?? []) check(alert);
      isReady.value = true;
    };
    void read();
    return subscribe('alerts', { onEvent: check, onResync: () => void read() });
  }, [format, keyName, token]);
  return (
    <div class="arrival" role="status">
      {found.value && <Stored alert={found.value} title={words.received} />}
      {!found.value && isReady.value && <Waiting format={format} keyName={keyName} earlierKeys={earlierKeys} />}
    </div>
  );
};

const Waiting = ({ format, keyName, earlierKeys }: Props) => {
  const senders = earlierKeys.map((name) => `key:${name}`);
  // The native format does not identify the sender.
  const isOurs = (alert: AlertEntry) =>
    senders.includes(alert.sender ?? '') || (format !== 'native' && alert.format === format);
  const load = async (signal: AbortSignal) => ({ alert: await findLast(isOurs, signal) });
  const { value } = useResource(load, { key: senders.join() });
  const last = keyName === undefined ? value?.alert : undefined;
  return (
    <>
      {last && <Stored alert={last} title={words.last} />}
      <p class="hint">{last ? words.waitingNext : words.waiting}</p>
    </>
  );
};

const findLast = async (isOurs: (alert: AlertEntry) => boolean, signal: AbortSignal) => {
  let before: number | undefined;
  for (let page = 0; page < mostPages && isReadable('searchAlerts'); page += 1) {
    const { data, next } = await client.searchAlerts({ limit: mostRead, before }, { signal });
    const found = data.find(isOurs);
    if (found || next === null) return found;
    before = next;
  }
  return undefined;
};

const Stored = ({ alert, title }: { alert: AlertEntry; title: string }) => {
  const { id, source, level, hostname, status, sender } = alert;
  const ago = toRelative(Math.min(0, untilTime(toTimeOf(alert).getTime())));
  const facts = Object.entries({ source, level, hostname, status, sender }).flatMap(
    ([name, value]): [string, string][] => (value ? [[words.stored[name as 'source'], value]] : []),
  );
  return (
    <div class="note">
      <p class="strong">
        {/* Hidden from screen readers, which would read it out every second. */}
        {title} <span aria-hidden="true">{ago}</span>: <bdi>{alert.labels?.['alertname'] ?? toAlertLine(alert)}</bdi>
      </p>
      <Facts facts={facts} />
      <a href={`#/alerts/${id}`}>{words.open}</a>
    </div>
  );
};
