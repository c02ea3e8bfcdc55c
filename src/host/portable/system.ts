import { arch, hostname, release, uptime, version } from 'node:os';
import type { Systeminformation } from 'systeminformation';
import type { SystemReading } from '../readings.ts';

interface Found {
  os: Pick<Systeminformation.OsData, 'distro' | 'release' | 'fqdn' | 'hypervizor'>;
  system: Pick<Systeminformation.SystemData, 'manufacturer' | 'model' | 'virtual'>;
  users: readonly unknown[];
}

/** Combines the values of systeminformation with Node's own. */
export const toSystemReading = ({ os, system, users }: Found): SystemReading => ({
  hostname: hostname(),
  domain: toDomain(os.fqdn),
  osName: [os.distro, os.release].filter(isKnown).join(' ') || null,
  osVersion: release(),
  osBuild: version(),
  architecture: arch(),
  manufacturer: isKnown(system.manufacturer) ? system.manufacturer : null,
  model: isKnown(system.model) ? system.model : null,
  hypervisorPresent: os.hypervizor ?? system.virtual,
  bootedAt: new Date(Date.now() - uptime() * 1000),
  userCount: users.length,
});

/** The part of the full name after the host's own name, or null. */
export const toDomain = (fullName: string): string | null => fullName.split('.').slice(1).join('.') || null;

const isKnown = (value: string): boolean => value !== '' && value !== 'unknown';
