import { test } from 'node:test';

const { SIGNALBOX_FAULT_ROUNDS: asked } = process.env;

/** True if tests run in their long forms, as in `npm run faults`: more kills, more requests, more random cases. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

/** Returns the number of repetitions of a test, in its usual or its long form. */
export const amount = (usual: number, long: number): number => (isLong ? long : usual);

/** Returns the number of rounds of a fault test, like `amount`. SIGNALBOX_FAULT_ROUNDS overrides both numbers. */
export const rounds = (usual: number, long: number): number => (asked ? Number(asked) : amount(usual, long));

/** Returns the cases to test: all of them in the long form, otherwise only a few. */
export const cases = <T>(all: readonly T[], usual = 1): readonly T[] => (isLong ? all : all.slice(0, usual));

/** Test that exists only in the long form. In usual runs, another test covers one of its cases. */
export const longTest = (isLong ? test : () => undefined) as typeof test;
