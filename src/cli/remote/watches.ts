import type { Watch } from '../../features/watches/schema.ts';
import { defineAskingCommand, type ListReply } from './ask.ts';
import { foldSpaces, paintSeverity, toRelativeTime, toTable } from './table.ts';

export const watchesCommand = defineAskingCommand({
  name: 'watches',
  summary: 'List the watches of a server: their states, and the last reading of each watched object.',
  scope: 'incidents:write',
  run: async ({ ask, show }) => show((await ask<ListReply<Watch>>('api/watches')).data, toWatchTable, 'No watches.\n'),
});

const states = ['firing', 'cannot check', 'pending'];

/** Returns the rank for sorting by state, worst first. */
const rankOfState = (state: string): number => (states.includes(state) ? states.indexOf(state) : states.length);

const toWatchTable = (rows: readonly Watch[]): string => {
  const lines = rows.flatMap(({ name, state, since, settings: { type }, things }) => {
    const found = things.length > 0 ? things : [{ state, since, level: null, text: '' }];
    return found.map((thing) => ({ name, type, ...thing }));
  });
  return toTable(
    ['NAME', 'TYPE', 'STATE', 'LEVEL', 'SINCE', 'READING'],
    lines
      .sort((a, b) => rankOfState(a.state) - rankOfState(b.state))
      .map(({ name, type, state, level, since, text }) => [
        ...[name, type, state, level ?? '', since === null ? '' : toRelativeTime(since), foldSpaces(text)],
      ]),
    { paint: paintSeverity, dropped: ['TYPE', 'SINCE'] },
  );
};
