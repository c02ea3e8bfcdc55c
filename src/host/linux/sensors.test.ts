import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { readPressure, readTemperatures } from './sensors.ts';

const write = (root: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
};

test('temperatures are those of chips, and of thermal zones where there are no chips', (t) => {
  const root = createFolder(t);
  assert.deepEqual(readTemperatures(root), []);
  write(root, {
    'sys/class/thermal/thermal_zone0/type': 'acpitz\n',
    'sys/class/thermal/thermal_zone0/temp': '27800\n',
    'sys/class/thermal/cooling_device0/type': 'Fan\n',
  });
  assert.deepEqual(readTemperatures(root), [{ sensor: 'acpitz', celsius: 27.8 }]);
  write(root, {
    'sys/class/hwmon/hwmon0/name': 'coretemp\n',
    'sys/class/hwmon/hwmon0/temp1_input': '61000\n',
    'sys/class/hwmon/hwmon0/temp1_label': 'Package id 0\n',
    'sys/class/hwmon/hwmon0/fan1_input': '1200\n',
    'sys/class/hwmon/hwmon1/name': 'nvme\n',
    'sys/class/hwmon/hwmon1/temp1_input': '-5250\n',
    'sys/class/hwmon/hwmon1/temp2_input': 'not ready\n',
  });
  assert.deepEqual(readTemperatures(root), [
    { sensor: 'coretemp Package id 0', celsius: 61 },
    { sensor: 'nvme temp1', celsius: -5.25 },
  ]);
});

test('inputs that are not connected, faulty or off are left out', (t) => {
  const root = createFolder(t);
  const inputs = [45_000, 127_000, -128_000, 127_500, -62_000, 30_000, 31_000, 126_000, -20_000];
  const files = inputs.map((value, index) => [`sys/class/hwmon/hwmon0/temp${index + 1}_input`, `${value}\n`]);
  write(root, {
    ...Object.fromEntries(files),
    'sys/class/hwmon/hwmon0/name': 'nct6798\n',
    'sys/class/hwmon/hwmon0/temp6_fault': '1\n',
    'sys/class/hwmon/hwmon0/temp7_enable': '0\n',
    'sys/class/hwmon/hwmon0/temp1_fault': '0\n',
  });
  assert.deepEqual(
    readTemperatures(root).map(({ celsius }) => celsius),
    [45, 126, -20],
  );
});

test('pressure is the share of the last minute in which some task waited', (t) => {
  const root = createFolder(t);
  assert.equal(readPressure(root, 'io'), null);
  write(root, {
    'proc/pressure/io':
      'some avg10=2.85 avg60=1.43 avg300=2.22 total=5\nfull avg10=0.08 avg60=0.04 avg300=0.21 total=6\n',
  });
  assert.equal(readPressure(root, 'io'), 1.43);
});
