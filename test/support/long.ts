import { test } from 'node:test';

/** True if tests take their long forms, as in `npm run faults`: more kills, more requests, more random cases. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

/** Returns the amount of repetition of a test in its usual or its long form. */
export const amount = (usual: number, long: number): number => (isLong ? long : usual);

/** Returns the cases of a test: a few usually, all in its long form. */
export const cases = <T>(all: readonly T[], usual = 1): readonly T[] => (isLong ? all : all.slice(0, usual));

/** A test with only a long form: in usual runs another test covers one of its cases. */
export const longTest = (isLong ? test : () => undefined) as typeof test;
