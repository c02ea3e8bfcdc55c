import assert from 'node:assert/strict';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { createIncident } from '../../../test/support/incident-messages.ts';
import { waitUntil, waitUntilPasses } from '../../../test/support/wait.ts';
import type { SharedIncident } from '../../kit/incident.ts';
import type { SharedAction } from '../../kit/incident-source.ts';
import { createFolderOf } from '../../storage/folder.ts';
import { FilePictureStore } from './picture-store.ts';
import { PictureTaker } from './picture-taker.ts';

const second = 1000;
const hour = 3600 * second;

/** Creates a taker with its own folder. Its pictures are short strings, and its incidents are in a map. */
const createTaker = (t: TestContext, folder = join(createFolder(t), 'snapshots')) => {
  const state = {
    now: Date.parse('2026-01-31T08:30:00Z'),
    cpuMs: 0,
    folder,
    isStorable: true,
    incidents: new Map<string, SharedIncident>(),
    acts: [] as SharedAction[],
    counts: [] as string[],
    captures: 0,
  };
  const act = async (action: SharedAction): Promise<SharedIncident | undefined> => {
    if (!state.isStorable) throw new Error('the disk is full');
    state.acts.push(action);
    const incident = state.incidents.get(action.id);
    if (!incident || action.type !== 'snapshot') return undefined;
    const changed = { ...incident, snapshot: { at: action.takenAt, isKept: action.isKept } };
    state.incidents.set(action.id, changed);
    return changed;
  };
  const taker = new PictureTaker(
    {
      store: new FilePictureStore(createFolderOf(folder)),
      incidents: { act, find: (id) => state.incidents.get(String(id)), catchUp: async () => undefined },
      listNames: async () => ['db-1', 'db-1.example.org'],
      estimateMs: async () => state.cpuMs,
      capture: async () => {
        state.captures += 1;
        return `{"captured":${state.captures}}`;
      },
      clock: () => new Date(state.now),
      log: { warn: () => undefined },
      count: (outcome) => void state.counts.push(outcome),
    },
    true,
  );
  const open = (id: string, changes: Partial<SharedIncident> = {}): SharedIncident => {
    const at = { openedAt: state.now, stateSince: state.now };
    const incident = createIncident({ id, hostname: 'DB-1', ...at, ...changes });
    state.incidents.set(id, incident);
    taker.consider([incident]);
    return incident;
  };
  return { taker, state, open };
};

test('no picture is taken that would need more than 200 ms of CPU time', async (t) => {
  const { taker, state, open } = createTaker(t);
  state.cpuMs = 201;
  const incident = open('a');
  await waitUntil('the picture is left out', () => state.counts.length === 1);
  const reason = 'a picture would have taken 201 ms of CPU time, more than the limit of 200 ms';
  assert.deepEqual([state.counts, state.captures, await taker.explain(incident)], [['busy'], 0, reason]);
  // A repeated alert takes no picture, but a raised level does.
  state.cpuMs = 200;
  taker.consider([{ ...incident, count: 4 }]);
  taker.consider([{ ...incident, raisedAt: state.now }]);
  await waitUntil('the picture is taken', () => state.counts.length === 2);
  assert.deepEqual(state.counts, ['busy', 'taken']);
});

test('incidents that open while a picture is taken share the picture, and an hour has 60 pictures', async (t) => {
  const { state, open } = createTaker(t);
  for (let index = 0; index < 61; index += 1) open(`${index}`);
  await waitUntil('all incidents are considered', () => state.counts.length === 61);
  assert.deepEqual([state.captures, state.counts.filter((each) => each === 'taken').length], [1, 60]);
  state.now += hour - second;
  open('early');
  await waitUntil('the picture is left out', () => state.counts.length === 62);
  assert.equal(state.counts.at(-1), 'limit');
  state.now += second;
  open('late');
  await waitUntil('the picture is taken', () => state.counts.length === 63);
  assert.equal(state.counts.at(-1), 'taken');
});

test('an incident that is known late, resolved, of an older version or about another machine gets no picture', async (t) => {
  const { state, open } = createTaker(t);
  const past = state.now - 6 * second;
  open('late', { openedAt: past, stateSince: past });
  open('resolved', { state: 'resolved' });
  open('old', { isOld: true });
  open('foreign', { hostname: 'db-2' });
  open('warning', { level: 'WARNING' });
  open('nowhere', { hostname: '' });
  open('this', { hostname: 'db-1.example.org' });
  await waitUntil('a picture is taken', () => state.acts.length === 1);
  assert.deepEqual(state.acts, [{ type: 'snapshot', id: 'this', by: 'signalbox', takenAt: state.now, isKept: true }]);
});

test('an incident does not show a picture that could not be stored, and the next picture is stored', async (t) => {
  const folder = join(createFolder(t), 'snapshots');
  // A file in place of the folder makes writing fail.
  writeFileSync(folder, '');
  const broken = createTaker(t, folder);
  const incident = broken.open('a');
  await waitUntil('the picture has failed', () => broken.state.counts.length === 1);
  assert.deepEqual([broken.state.counts, broken.state.acts], [['failed'], []]);
  assert.equal(await broken.taker.explain(incident), 'the picture could not be taken or stored');
  const { state, open } = createTaker(t);
  state.isStorable = false;
  open('a');
  await waitUntil('the picture has failed', () => state.counts.length === 1);
  state.isStorable = true;
  open('b');
  await waitUntil('the next picture is taken', () => state.counts.length === 2);
  assert.deepEqual(state.counts, ['failed', 'taken']);
});

test('a sweep deletes pictures of deleted incidents, and shows pictures that were stored before a kill', async (t) => {
  const { taker, state, open } = createTaker(t);
  for (const id of ['a', 'b', 'c']) open(id);
  await waitUntil('all pictures are taken', () => state.counts.length === 3);
  state.incidents.delete('a');
  const b = state.incidents.get('b');
  assert.ok(b);
  state.incidents.set('b', { ...b, snapshot: null });
  await taker.sweep();
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => existsSync(join(state.folder, `${id}.json`))),
    [false, true, true],
  );
  assert.deepEqual(state.incidents.get('b')?.snapshot, { at: state.now, isKept: true });
});

test('only the newest 1,000 pictures are kept, and their incidents stop showing the others first', async (t) => {
  const first = createTaker(t);
  first.open('new');
  await waitUntil('the folder exists', () => first.state.counts.length === 1);
  const { folder } = first.state;
  for (let index = 0; index < 1000; index += 1) {
    const path = join(folder, `${index}.json`);
    writeFileSync(path, '{}');
    utimesSync(path, 1_000_000 + index, 1_000_000 + index);
  }
  writeFileSync(join(folder, 'unfinished.json.new'), '');
  const { taker, state, open } = createTaker(t, folder);
  const oldest = createIncident({ id: '0', snapshot: { at: 1, isKept: true } });
  state.incidents.set('0', oldest);
  open('newer');
  await waitUntilPasses(() => assert.equal(existsSync(join(folder, '0.json')), false));
  await waitUntilPasses(() => assert.equal(existsSync(join(folder, '1.json')), false));
  assert.equal(existsSync(join(folder, '2.json')), true);
  assert.equal(existsSync(join(folder, 'unfinished.json.new')), false);
  const gone = state.incidents.get('0');
  assert.deepEqual(gone?.snapshot, { at: 1_000_000_000, isKept: false });
  assert.equal(
    gone && (await taker.explain(gone)),
    'the picture was deleted, because only the newest 1000 pictures are kept',
  );
});
