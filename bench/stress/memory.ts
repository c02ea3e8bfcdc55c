import { setTimeout } from 'node:timers/promises';
import { readResidentBytes } from '../support/process-cost.ts';

/** Samples the memory of a process in MiB once a second. */
export const watchResident = async (pid: number, seconds: number): Promise<number[]> => {
  const sizes: number[] = [];
  for (let second = 0; second < seconds; second += 1) {
    sizes.push(readResidentBytes(pid) / 2 ** 20);
    await setTimeout(1000);
  }
  return sizes;
};

/** The growth per interval of values taken at equal intervals: the slope of their regression line. */
export const toSlope = (values: readonly number[]): number => {
  const middle = (values.length - 1) / 2;
  const mean = sum(values) / values.length;
  const products = values.map((value, place) => (place - middle) * (value - mean));
  const squares = values.map((_, place) => (place - middle) ** 2);
  return sum(products) / sum(squares);
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
