import { Finding } from './judge.ts';
import type { Ledger } from './ledger.ts';
import { isIntake } from './sent.ts';

interface SimpleTask {
  id: number;
  title: unknown;
}

interface Item {
  id: number;
  name: unknown;
}

/** Exclusive upper bound for the ids of items. */
const itemIds = 1000;

const expect = (holds: boolean, what: string): void => {
  if (!holds) throw new Finding(what);
};

/** Returns the number in a query parameter, read as a server must read it. */
const readNumber = (query: URLSearchParams, name: string, standard: number): number =>
  Math.min(Number(query.get(name) || standard), Number.MAX_SAFE_INTEGER);

/** Creates the ledger of simple tasks: an id is a position in the list, and no task disappears. */
export const createSimpleTaskLedger = (): Ledger => {
  const titles: unknown[] = [];
  return ({ name, status, id, sent, json }) => {
    if (name === 'POST /api/tasks' && status === 201) titles.push(sent['title']);
    if (status !== 200) return;
    const tasks = name.includes('{id}') ? [json as SimpleTask] : (json as SimpleTask[]);
    const first = name.includes('{id}') ? Number(id) : 1;
    expect(name.includes('{id}') || tasks.length === titles.length, `${tasks.length} tasks, not ${titles.length}`);
    const areSame = tasks.every((task, index) => task.id === first + index && task.title === titles[task.id - 1]);
    expect(areSame, 'a simple task is not what was sent');
  };
};

/**
 * Creates the ledger of items: no id is used twice while there are unused ids, and each page has the length that the
 * total implies.
 */
export const createItemLedger = (): Ledger => {
  const items: Item[] = [];
  const ids = new Set<number>();
  return ({ name, status, query, sent, json }) => {
    if (name === 'POST /api/items' && status === 201) {
      const { id, name: itemName } = json as Item;
      expect(!ids.has(id) || ids.size === itemIds, `the id ${id} is given out twice`);
      expect(itemName === sent['name'], 'an item is not what was sent');
      ids.add(id);
      items.push({ id, name: itemName });
    }
    if (name !== 'GET /api/items' || status !== 200) return;
    const { data, total } = json as { data: Item[]; total: number };
    const from = (readNumber(query, 'page', 1) - 1) * readNumber(query, 'size', 20);
    const page = items.slice(from, from + readNumber(query, 'size', 20));
    expect(total === items.length, `the total is ${total}, not ${items.length}`);
    expect(data.length === page.length, `${data.length} items on a page of ${page.length}`);
    const areSame = data.every((item, index) => item.id === page[index]?.id && item.name === page[index]?.name);
    expect(areSame, 'an item is not what was sent');
  };
};

/** Routes whose responses do not contain the number of stored alerts. */
const otlpRoutes = new Set(['POST /api/alert/otlp', 'POST /v1/logs']);

/** Creates the ledger of alerts: acknowledged alerts are listed in order with unique ids. */
export const createAlertLedger = (): Ledger => {
  /** Messages of alerts. Undefined for an alert of another program, because its message is unknown. */
  let messages: unknown[] = [];
  /** False after responses without the number of their alerts, until the whole log has been listed. */
  let isCounted = true;
  const ids = new Set<string>();
  return ({ name, status, query, sent, json }) => {
    if (status === 202 || otlpRoutes.has(name)) isCounted = false;
    if (status !== 200) return;
    if (isIntake(name) && isCounted) {
      const { ids: stored, repeated } = json as { ids: string[]; repeated: number };
      expect(repeated >= 0 && repeated <= stored.length, `${repeated} of ${stored.length} are repeats`);
      messages.push(...Array.from({ length: stored.length - repeated }, () => undefined));
    }
    const isText = name === 'POST /api/alert/plain-text';
    if (name === 'POST /api/alert' || isText) {
      const { id } = json as { id: string };
      expect(!ids.has(id), `the id ${id} is given out twice`);
      ids.add(id);
      messages.push(isText ? undefined : (sent['message'] ?? ''));
    }
    if (name !== 'GET /api/alerts') return;
    const { count, data } = json as { count: number; data: { message: unknown }[] };
    expect(count === data.length, `${count} is not the number of alerts in the list`);
    const asked = readNumber(query, 'count', 10);
    const last = asked === 0 ? [] : messages.slice(-asked);
    if (query.get('level')) return expect(!isCounted || count <= last.length, 'more alerts than were asked for');
    if (!isCounted) {
      if (count < asked) messages = data.map(({ message }) => message);
      isCounted = count < asked;
      return;
    }
    expect(count === last.length, `${count} alerts of ${messages.length} where ${asked} are asked for`);
    expect(
      data.every(({ message }, index) => last[index] === undefined || message === last[index]),
      'an alert is not what was sent',
    );
  };
};
