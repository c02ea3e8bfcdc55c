import { createHmac, timingSafeEqual } from 'node:crypto';
import { dayMs } from '../../../lib/units.ts';
import type { StoredWay } from './way.ts';

/** Number of digits in a code. */
const digits = 6;

/**
 * Returns the settings that make up the address of a contact method. A change to any of them makes the contact method
 * unproven.
 */
export const toAddressText = ({ type, url, to, method, user }: StoredWay): string =>
  JSON.stringify([type, url ?? null, to ?? null, method ?? null, user ?? null]);

/**
 * Contact method, with its creation time in Unix milliseconds. The time ensures that a contact method that replaces a
 * deleted one gets different codes.
 */
interface CodedWay {
  name: string;
  createdAt: number;
  value: StoredWay;
}

/**
 * Codes sent in test notifications. They prove that notifications arrive. A code is valid until the end of the next day
 * in UTC.
 */
export interface WayCodes {
  create(way: CodedWay): string;
  isValid(way: CodedWay, code: string): boolean;
}

/** Creates codes. The first key signs new codes. Codes signed with any of the keys are valid. */
export const createWayCodes = (keys: readonly [Buffer, ...Buffer[]], clock: () => Date): WayCodes => {
  const toCode = ({ name, createdAt, value }: CodedWay, day: number, key: Buffer): string => {
    const content = JSON.stringify(['way', name, createdAt, toAddressText(value), day]);
    const number = createHmac('sha256', key).update(content).digest().readUIntBE(0, 6) % 10 ** digits;
    return String(number).padStart(digits, '0');
  };
  const today = (): number => Math.floor(clock().getTime() / dayMs);
  return {
    create: (way) => toCode(way, today(), keys[0]),
    isValid: (way, code) => {
      const given = code.replaceAll(/\s/g, '');
      if (!/^\d{6}$/.test(given)) return false;
      return keys.some((key) =>
        [today(), today() - 1].some((day) => timingSafeEqual(Buffer.from(toCode(way, day, key)), Buffer.from(given))),
      );
    },
  };
};
