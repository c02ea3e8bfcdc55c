import { test } from 'node:test';

/** True if tests run in their long forms, as in `npm run faults`: more kills, more requests, more random cases. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

/** Returns how often a test repeats in its usual or its long form. */
export const amount = (usual: number, long: number): number => (isLong ? long : usual);

/** Returns a test's cases: usually a few, in its long form all. */
export const cases = <T>(all: readonly T[], usual = 1): readonly T[] => (isLong ? all : all.slice(0, usual));

/** Test with only a long form: in usual runs, another test covers one of its cases. */
export const longTest = (isLong ? test : () => undefined) as typeof test;
