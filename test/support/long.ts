import { test } from 'node:test';

/** True if tests take their long forms, as in `npm run faults`: more kills, more requests, more random cases. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

/** How much of something a test does: usually, and in its long form. */
export const amount = (usual: number, long: number): number => (isLong ? long : usual);

/** The cases that a test has: usually only so many, and all in its long form. */
export const cases = <T>(all: readonly T[], usual = 1): readonly T[] => (isLong ? all : all.slice(0, usual));

/** A test that has only a long form: another one shows the same, of one case, whenever tests run. */
export const longTest = (isLong ? test : () => undefined) as typeof test;
