import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSamples, toScrapedReport } from './node-exporter.ts';

const scrape = (idle: number, user: number, received: number) =>
  parseSamples(`# HELP node_cpu_seconds_total Seconds.
node_cpu_seconds_total{cpu="0",mode="idle"} ${idle}
node_cpu_seconds_total{cpu="0",mode="user"} ${user}
node_memory_MemTotal_bytes 4e+09
node_memory_MemAvailable_bytes 1e+09
node_load1 0.5
node_network_receive_bytes_total{device="eth0"} ${received}
node_network_receive_bytes_total{device="lo"} 9e9
node_filesystem_size_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 100
node_filesystem_free_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 40
node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 30
node_filesystem_size_bytes{device="tmpfs",fstype="tmpfs",mountpoint="/run"} 50
node_uname_info{machine="x86_64",nodename="web\\n1",release="6.1"} 1
node_time_seconds 1.7e+09
node_boot_time_seconds 1.699e+09
`);

test('two scrapes of node_exporter produce the readings of a host', () => {
  const before = { samples: scrape(100, 10, 1000), at: 0 };
  const report = toScrapedReport('web-1', { samples: scrape(107.5, 12.5, 21_000), at: 10_000 }, before, new Date());
  assert.equal(report?.readings.cpu, 0.25);
  assert.equal(report?.readings.memoryUsed, 3e9);
  assert.equal(report?.readings.networkReceived, 2000);
  assert.deepEqual(report?.readings.disks, [{ mountPath: '/', used: 60, total: 90 }]);
  assert.equal(report?.hostname, 'web 1');
  assert.equal(report?.uptimeSeconds, 1e6);
});

test('counters that a restart reset produce no rates', () => {
  const before = { samples: scrape(100, 10, 1000), at: 0 };
  const { readings } = toScrapedReport('web-1', { samples: scrape(1, 1, 1), at: 10_000 }, before, new Date()) ?? {};
  assert.deepEqual([readings?.cpu, readings?.networkReceived], [null, null]);
});

test('a page that is not from node_exporter produces no report', () => {
  assert.equal(toScrapedReport('web-1', { samples: parseSamples('<html>'), at: 0 }, undefined, new Date()), undefined);
});

test('lines of more than 4 kB and samples beyond the limit are skipped', () => {
  const long = `node_load1{a="${'x'.repeat(5000)}"} 1`;
  assert.deepEqual([...parseSamples(`${long}\nnode_load5 2\nnode_load15 3`).keys()], ['node_load5', 'node_load15']);
  const few = parseSamples('node_load1 1\nnode_load5 2\nnode_load15 3', { lineLength: 12, samples: 1 });
  assert.deepEqual([...few.keys()], ['node_load1']);
});

test('labels are read up to the first text that is not a label', () => {
  const [sample] = parseSamples('node_a{ b = "1", c="}\\"" , d e="2"} 1').get('node_a') ?? [];
  assert.deepEqual(sample?.labels, { b: '1', c: '}"' });
});

test('a hostile response of 8 MiB is parsed in linear time', () => {
  const fill = (line: string): string => line.repeat(Math.floor((8 * 1024 * 1024) / line.length));
  const pages = [
    fill(`node_a{${'a'.repeat(4000)}} 1\n`),
    fill(`node_a{${'a'.repeat(40_000)}} 1\n`),
    fill(`node_a{b="${'\\x'.repeat(1900)}} 1\n`),
  ];
  for (const page of pages) assert.ok(parseSamples(page).size <= 1);
});

test('a report has at most 32 disks, with the values of their own mounts', () => {
  const list = (metric: string, value: number) =>
    Array.from(
      { length: 30_000 },
      (_, index) =>
        `node_filesystem_${metric}_bytes{device="/dev/sd${index}",fstype="ext4",mountpoint="/m${index}"} ${value + index}`,
    ).join('\n');
  const page = ['node_memory_MemTotal_bytes 1', list('size', 1000), list('free', 400), list('avail', 300)].join('\n');
  const report = toScrapedReport('web-1', { samples: parseSamples(page), at: 0 }, undefined, new Date());
  assert.equal(report?.readings.disks?.length, 32);
  assert.deepEqual(report?.readings.disks?.[31], { mountPath: '/m31', used: 600, total: 931 });
});
