import type { Socket } from 'node:net';
import { cutText, shorten } from '../../../lib/well-formed.ts';
import type { CheckPhase, Seen } from '../schema.ts';
import { toMsText } from '../watch-type.ts';

/** Maximum length of a response or output in results and alerts, in characters. */
const maxSeenLength = 500;

/** Measures the phases of a connection. */
export class PhaseClock {
  #at = performance.now();
  #phase: CheckPhase | null = null;
  #timings: NonNullable<Seen['timings']> = { dns: null, connect: null, tls: null, firstByte: null };

  /** Follows a new socket through all phases until its first byte. Stops following any earlier socket. */
  follow(socket: Socket, { isTls = false, isNamed = true }: { isTls?: boolean; isNamed?: boolean } = {}): void {
    this.#at = performance.now();
    this.#timings = { dns: null, connect: null, tls: null, firstByte: null };
    this.#phase = isNamed ? 'dns' : 'connect';
    socket.once('lookup', (error: Error | null) => error === null && this.#end('dns', 'connect'));
    socket.once('connect', () => this.#end('connect', isTls ? 'tls' : 'firstByte'));
    socket.once('secureConnect', () => this.#end('tls', 'firstByte'));
  }

  /** Ends the phase that lasts until the first byte of the response. */
  markFirstByte(): void {
    this.#end('firstByte', 'body');
  }

  /** Ends the last phase. */
  markEnd(): void {
    this.#phase = null;
  }

  /** Returns the phases so far, with the beginning of a response. */
  see(text?: string): Seen {
    return { timings: { ...this.#timings }, failed: this.#phase, text: text === undefined ? null : toSeenText(text) };
  }

  #end(phase: Exclude<CheckPhase, 'body'>, next: CheckPhase): void {
    // If addresses are tried in parallel, phases are reported several times.
    if (this.#timings[phase] !== null || this.#phase === null) return;
    const now = performance.now();
    this.#timings[phase] = Math.round(10 * (now - this.#at)) / 10;
    this.#at = now;
    this.#phase = next;
  }
}

/** Control characters except line feeds, and characters that change the text direction. */
const unshown = /[^\P{Cc}\n]|\p{Bidi_Control}/gu;

/** Returns the beginning of a text without control characters. */
export const toSeenText = (text: string): string =>
  shorten(
    cutText(text, 4 * maxSeenLength)
      .toWellFormed()
      .replaceAll(unshown, ' ')
      .trim(),
    maxSeenLength,
  );

const phaseNames = {
  dns: 'name lookup',
  connect: 'connection',
  tls: 'TLS handshake',
  firstByte: 'first byte',
  body: 'rest of the response',
};

/** Describes observations for an alert: the time of each phase, then the text. */
export const describeSeen = ({ timings, failed, text }: Seen): string => {
  const phases = Object.entries(timings ?? {}).flatMap(([phase, ms]) =>
    ms === null ? [] : [`${phaseNames[phase as CheckPhase]} ${toMsText(ms)}`],
  );
  if (failed !== null) phases.push(`no ${phaseNames[failed]}`);
  return [phases.length > 0 ? `Timings: ${phases.join(', ')}` : '', text ?? ''].filter(Boolean).join('\n');
};
