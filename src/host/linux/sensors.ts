import { readdirSync } from 'node:fs';
import { readKernelFile, readKernelNumber, readKernelText, readOrNull } from '../reading.ts';
import type { Pressure, TemperatureReading } from '../readings.ts';

/** Reads `HostReadings.temperatures`: sensors in /sys/class/hwmon, or thermal zones if there are none. */
export const readTemperatures = (root: string): TemperatureReading[] => {
  const monitors = `${root}/sys/class/hwmon`;
  const found = list(monitors).flatMap((monitor) => {
    const folder = `${monitors}/${monitor}`;
    const chip = readKernelText(`${folder}/name`) ?? monitor;
    return list(folder).flatMap((file) => {
      const input = /^(temp\d+)_input$/.exec(file)?.[1];
      if (input === undefined) return [];
      const isFaulty = readKernelNumber(`${folder}/${input}_fault`) === 1;
      if (isFaulty || readKernelNumber(`${folder}/${input}_enable`) === 0) return [];
      const label = readKernelText(`${folder}/${input}_label`) ?? input;
      return toReading(`${chip} ${label}`, readKernelNumber(`${folder}/${file}`));
    });
  });
  if (found.length > 0) return found;
  const zones = `${root}/sys/class/thermal`;
  return list(zones)
    .filter((zone) => zone.startsWith('thermal_zone'))
    .flatMap((zone) => {
      const name = readKernelText(`${zones}/${zone}/type`) ?? zone;
      return toReading(name, readKernelNumber(`${zones}/${zone}/temp`));
    });
};

const list = (folder: string): string[] => (readOrNull(() => readdirSync(folder)) ?? []).sort();

/**
 * Highest plausible value in thousandths of a degree. Unconnected inputs read a value at the end of their range, such
 * as 127, -62 or -128 °C.
 */
const highest = 127_000;
const lowest = -55_000;

const toReading = (sensor: string, thousandths: number | null): TemperatureReading[] =>
  thousandths === null || thousandths >= highest || thousandths <= lowest
    ? []
    : [{ sensor, celsius: thousandths / 1000 }];

/** Reads `HostReadings.pressure`. */
export const readPressure = (root: string, resource: Pressure): number | null => {
  const text = readKernelFile(`${root}/proc/pressure/${resource}`)?.toString('latin1') ?? '';
  const share = /^some avg10=[\d.]+ avg60=([\d.]+)/m.exec(text)?.[1];
  return share === undefined ? null : Number(share);
};
