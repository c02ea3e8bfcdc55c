import type { IncomingMessage } from 'node:http';
import type { HttpError } from '../response/errors.ts';

/** What a request is refused with before any route sees it; undefined where nothing is wrong. */
export type RequestGuard = (request: IncomingMessage) => HttpError | undefined;
