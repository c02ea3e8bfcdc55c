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

test('two scrapes of node_exporter make the readings of a host', () => {
  const before = { samples: scrape(100, 10, 1000), at: 0 };
  const report = toScrapedReport('web-1', { samples: scrape(107.5, 12.5, 21_000), at: 10_000 }, before, new Date());
  assert.equal(report?.readings.cpu, 0.25);
  assert.equal(report?.readings.memoryUsed, 3e9);
  assert.equal(report?.readings.networkReceived, 2000);
  assert.deepEqual(report?.readings.disks, [{ mountPath: '/', used: 60, total: 90 }]);
  assert.equal(report?.hostname, 'web 1');
  assert.equal(report?.uptimeSeconds, 1e6);
});

test('the counters of a restarted machine make no rates', () => {
  const before = { samples: scrape(100, 10, 1000), at: 0 };
  const { readings } = toScrapedReport('web-1', { samples: scrape(1, 1, 1), at: 10_000 }, before, new Date()) ?? {};
  assert.deepEqual([readings?.cpu, readings?.networkReceived], [null, null]);
});

test('a page that is not from node_exporter makes no report', () => {
  assert.equal(toScrapedReport('web-1', { samples: parseSamples('<html>'), at: 0 }, undefined, new Date()), undefined);
});
