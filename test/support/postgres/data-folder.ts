import { appendFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSharedFolder, findInstallation, runAsOwner, type Version } from './installation.ts';

/** Superuser, and an ordinary user who owns a database. */
export const admin = { user: 'postgres', password: 'test-postgres' };
export const ordinary = { user: 'signalbox', password: 'test-signalbox', database: 'signalbox' };

/**
 * Settings for a small, fast server that is as durable as the default. Shared memory is in files in the data folder, so
 * a killed server leaves none behind.
 */
const settings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
shared_buffers = 32MB
dynamic_shared_memory_type = mmap
wal_level = replica
wal_keep_size = 512MB
max_wal_size = 512MB
checkpoint_timeout = 1h
wal_sender_timeout = 5s
wal_receiver_timeout = 5s
wal_receiver_status_interval = 1s
wal_retrieve_retry_interval = 100ms
hot_standby = on
log_min_messages = warning
`;

/** Folder shared by all processes of `npm test`. */
const shared = process.env['TEST_SHARED_FOLDER'] ?? createSharedFolder();

/** Creates a data folder with both users and the database, by copying a template that is initialized once. */
export const createData = (version: Version, data: string): void => {
  const template = join(shared, `postgres-${version}`);
  if (!existsSync(template)) createTemplate(version, template);
  runAsOwner('cp', ['-r', template, data], { PATH: process.env['PATH'] });
};

const createTemplate = (version: Version, template: string): void => {
  const { program, environment } = findInstallation(version);
  const folder = createSharedFolder();
  const data = join(folder, 'data');
  const passwords = join(folder, 'password');
  writeFileSync(passwords, admin.password);
  const access = ['-U', admin.user, '-A', 'scram-sha-256', `--pwfile=${passwords}`];
  const how = ['-N', '--no-instructions', '-E', 'UTF8', '--locale=C', '--wal-segsize=4'];
  runAsOwner(program('initdb'), ['-D', data, ...access, ...how], environment);
  appendFileSync(join(data, 'postgresql.conf'), settings);
  const { user, password, database } = ordinary;
  const commands = [
    `CREATE ROLE ${user} LOGIN PASSWORD '${password}'`,
    `CREATE DATABASE ${database} OWNER ${user}`,
    // Drops databases. Each consists of three hundred files, and copying these takes most of the startup time.
    `UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'`,
    'DROP DATABASE template0',
    'DROP DATABASE postgres',
  ];
  const args = ['--single', '-D', data, '-c', 'fsync=off', 'template1'];
  // In this mode, each line is a command.
  runAsOwner(program('postgres'), args, environment, commands.map((command) => `${command}\n`).join(''));
  try {
    renameSync(data, template);
  } catch (error) {
    // Another process may have created the template first.
    if (!existsSync(template)) throw error;
  }
};
