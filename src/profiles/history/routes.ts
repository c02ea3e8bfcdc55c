import { HttpError } from '../../http/errors.ts';
import { sendList } from '../../http/json.ts';
import { parseTime } from '../../http/request-headers.ts';
import { defineRoute, type Route } from '../route.ts';
import { type createDocuments, toHead } from './document.ts';
import type { Disks } from './file.ts';
import type { Ring } from './ring.ts';
import { History, HistoryQuery } from './schema.ts';

interface HistoryParts {
  rings: readonly Ring[];
  disks: Disks;
  documents: Pick<ReturnType<typeof createDocuments>, 'listPieces'>;
  clock: () => Date;
}

export const createHistoryRoute = ({ rings, disks, documents, clock }: HistoryParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/history',
    access: 'open',
    summary: 'Report how processor, memory, load, disks, network and alerts have developed',
    schema: { operationId: 'getHistory', querystring: HistoryQuery, response: { 200: History } },
    handler: ({ query: { since, step } }, reply) => {
      const ring = rings.find((each) => each.step === step) as Ring;
      const now = Math.floor(clock().getTime() / 1000);
      const range = ring.findRange(since === undefined ? 0 : toSeconds(since), now);
      const span = { ring, disks, ...(range ?? { from: now, to: now - step }) };
      const opening = `${JSON.stringify(toHead(span)).slice(0, -1)},`;
      return sendList(reply, { opening, pieces: documents.listPieces(span, since === undefined), closing: '}' });
    },
  });

const toSeconds = (text: string): number => {
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : parseTime(text) / 1000;
  if (Number.isNaN(seconds)) {
    throw new HttpError('invalid', 'since must be a time such as 2026-01-31T09:30:00Z, or Unix seconds');
  }
  return Math.ceil(seconds);
};
