/** Output of systemd 252 on Debian 12, reduced to a few units. */
const unitFiles = JSON.stringify([
  { unit_file: 'demo.service', state: 'enabled', preset: 'enabled' },
  { unit_file: 'fails.service', state: 'static', preset: null },
  { unit_file: 'killed.service', state: 'disabled', preset: 'enabled' },
  { unit_file: 'barred.service', state: 'masked', preset: 'enabled' },
  { unit_file: 'dbus-org.freedesktop.hostname1.service', state: 'alias', preset: null },
  { unit_file: 'many@.service', state: 'static', preset: null },
  { unit_file: 'removed.service', state: 'enabled', preset: 'enabled' },
]);

const unitList = JSON.stringify([
  { unit: 'demo.service', load: 'loaded', active: 'active', sub: 'running', description: 'Demo "q" é' },
  { unit: 'fails.service', load: 'loaded', active: 'failed', sub: 'failed', description: 'Fails' },
  {
    unit: 'many@1.service',
    load: 'loaded',
    active: 'activating',
    sub: 'start',
    description: 'a\n\nId=evil.service',
  },
  {
    unit: 'auditd.service',
    load: 'not-found',
    active: 'inactive',
    sub: 'dead',
    description: 'auditd.service',
  },
]);

export const unitProperties = `Type=simple
MainPID=23
ExecMainCode=0
ExecMainStatus=0
User=demo
Id=demo.service
Description=Demo "q" é
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
CanStop=yes

Type=oneshot
MainPID=0
ExecMainCode=1
ExecMainStatus=3
User=
Id=fails.service
Description=Fails
LoadState=loaded
ActiveState=failed
SubState=failed
UnitFileState=static
CanStop=yes

Type=simple
MainPID=0
ExecMainCode=2
ExecMainStatus=9
User=
Id=killed.service
Description=Killed = ended
LoadState=loaded
ActiveState=deactivating
SubState=stop-sigterm
UnitFileState=disabled
CanStop=yes

Id=barred.service
Description=barred.service
LoadState=masked
ActiveState=inactive
SubState=dead
UnitFileState=masked
CanStop=no

Type=
MainPID=0
ExecMainCode=0
ExecMainStatus=0
User=
Id=removed.service
Description=removed.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
CanStop=yes

Type=notify
MainPID=28
ExecMainCode=0
ExecMainStatus=0
User=
Id=many@1.service
Description=[unprintable]
LoadState=loaded
ActiveState=activating
SubState=start
UnitFileState=
CanStop=yes
`;

/** Program that prints systemctl's recorded output. */
export const systemctlScript = `case "$1" in
list-unit-files) cat <<'EOF'
${unitFiles}
EOF
;;
list-units) cat <<'EOF'
${unitList}
EOF
;;
show) cat <<'EOF'
${unitProperties}
EOF
;;
esac`;

const cursor = (index: string): string =>
  `s=451cec866f5e4a5c9ad34d275f10e81f;i=${index};b=548bd545fc17479f874d1ff5b04e4750;m=5e38fcf3;t=660c77ad0c059;x=86884d1a6c590330`;

const common = { _BOOT_ID: '548bd545fc17479f874d1ff5b04e4750', _HOSTNAME: 'vm', _UID: '0' };

/** Output of journalctl 252 for five entries, newest first. */
export const journal = [
  {
    ...common,
    __CURSOR: cursor('15d'),
    __REALTIME_TIMESTAMP: '1795259735534929',
    _PID: '17',
    _TRANSPORT: 'stdout',
    _UID: '4294967000',
    MESSAGE: 'no priority, no name',
    _SYSTEMD_UNIT: 'big.service',
  },
  {
    ...common,
    __CURSOR: cursor('15c'),
    __REALTIME_TIMESTAMP: '1795259735528471',
    PRIORITY: '4',
    _PID: '14',
    MESSAGE: [101, 115, 99, 32, 27, 91, 49, 109, 32, 98, 111, 108, 100],
    _TRANSPORT: 'stdout',
    SYSLOG_IDENTIFIER: 'catdemo',
  },
  {
    ...common,
    __CURSOR: cursor('15b'),
    __REALTIME_TIMESTAMP: '1795259735523417',
    _SOURCE_REALTIME_TIMESTAMP: '1795259735523221',
    _PID: '13',
    SYSLOG_IDENTIFIER: 'demo',
    MESSAGE: ['hello world', 'and again'],
    _TRANSPORT: 'journal',
    PRIORITY: '3',
    MESSAGE_ID: 'fc2e22bc6ee647b6b90729ab34a250b1',
  },
  {
    ...common,
    __CURSOR: cursor('159'),
    __REALTIME_TIMESTAMP: '1795259733532596',
    _PID: '8',
    SYSLOG_FACILITY: '3',
    SYSLOG_IDENTIFIER: 'systemd-journald',
    MESSAGE_ID: 'f77379a8490b408bbe5f6940505a777b',
    PRIORITY: '6',
    _TRANSPORT: 'driver',
    MESSAGE: 'Journal started',
  },
  {
    ...common,
    __CURSOR: cursor('158'),
    __REALTIME_TIMESTAMP: '1795259733532588',
    _PID: '1',
    PRIORITY: '6',
    _TRANSPORT: 'journal',
    SYSLOG_IDENTIFIER: 'systemd',
    MESSAGE: 'Started demo.service',
  },
];
