import type { FastifyReply, FastifyRequest } from 'fastify';
import { StaticText } from '../../http/pages.ts';
import { minuteMs } from '../../lib/units.ts';
import type { KnownPage, PageKeeper } from './kind.ts';
import { createPageStyle, type PageStyle } from './style.ts';
import { createView, type PageView, type ViewSources } from './view.ts';

/** Minimum milliseconds between two views of a page that has changed, and of a page that has not. */
const changedMs = 1000;
const unchangedMs = minuteMs;

/**
 * Minimum time for which a view is kept, as a multiple of the time that it took to create. Keeps readers from
 * overloading the server.
 */
const restFactor = 20;

/** View of a page with its documents, shared by all readers. */
export interface ServedPage {
  page: KnownPage;
  view: PageView;
  style: PageStyle;
  /** Documents by name. */
  texts: Map<string, StaticText>;
  /** Number of changes included in the view. */
  changes: number;
  /** Time of the view, and earliest time of the next view, on the monotonic clock. */
  at: number;
  restsUntil: number;
}

interface ServedParts extends ViewSources {
  keeper: PageKeeper;
  clock: () => Date;
}

/** Pages in memory. They are written when requested. */
export class ServedPages {
  readonly #parts: ServedParts;
  readonly #pages = new Map<string, ServedPage>();
  #changes = 0;

  constructor(parts: ServedParts) {
    this.#parts = parts;
  }

  /** Records that any page may have changed. */
  noteChange(): void {
    this.#changes += 1;
  }

  /** Forgets deleted pages. */
  forgetDeleted(): void {
    for (const name of this.#pages.keys()) if (!this.#parts.keeper.find(name)) this.#pages.delete(name);
  }

  /** Returns the current view of a page. */
  get(page: KnownPage): ServedPage {
    const known = this.#pages.get(page.name);
    const now = performance.now();
    if (known?.page === page && this.#isCurrent(known, now)) return known;
    const served: ServedPage = {
      page,
      view: createView(page, this.#parts, this.#parts.clock().getTime()),
      style: known?.page === page ? known.style : createPageStyle(page.values.colours),
      texts: new Map(),
      changes: this.#changes,
      at: now,
      restsUntil: 0,
    };
    const end = performance.now();
    served.restsUntil = end + Math.max(changedMs, restFactor * (end - now));
    this.#pages.set(page.name, served);
    return served;
  }

  #isCurrent({ at, restsUntil, changes }: ServedPage, now: number): boolean {
    return now < restsUntil || (changes === this.#changes && now < at + unchangedMs);
  }
}

/** Caching header. Proxies keep a page for 30 seconds, or for a day if this server is unreachable. */
const openCaching = 'public, max-age=30, stale-while-revalidate=60, stale-if-error=86400';

/** Sends a document of a page. `write` is called once per view. */
export const sendDocument = (
  request: FastifyRequest,
  reply: FastifyReply,
  { page, view, texts }: ServedPage,
  { name, type, write }: { name: string; type: string; write: (view: PageView) => string },
): void => {
  const known = texts.get(name) ?? new StaticText(Buffer.from(write(view)));
  texts.set(name, known);
  known.send(request, reply.headers(toDocumentHeaders(page)).type(type));
};

const openHeaders = { 'cache-control': openCaching, 'x-signalbox-instance': '' };
const loginHeaders = { ...openHeaders, 'cache-control': 'private, no-cache' };

/** Returns the headers of a page's documents. Removes the name of the instance, because readers do not need it. */
export const toDocumentHeaders = ({ values }: KnownPage): Record<string, string> =>
  values.access === 'login' ? loginHeaders : openHeaders;
