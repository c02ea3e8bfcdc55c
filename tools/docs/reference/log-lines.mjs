/**
 * Lines in the log of the server: level and beginning of each message, and its meaning. `...` stands for a variable
 * part.
 */
export const logLines = [
  { messages: ['fatal unexpected error'], meaning: 'a bug: the server stops' },
  { messages: ['error request failed'], meaning: "a request got 500; `reqId` is the response's `requestId`" },
  {
    messages: ['error a request from a program on this machine failed'],
    meaning: 'an agent: `signalbox send` got 500',
  },
  {
    messages: ['error ...: exiting without completing work in progress', 'error the server did not shut down cleanly'],
    meaning: 'a second signal, an error or the time limit of 10 s ended the process',
  },
  {
    messages: [
      'error the log files or the certificate could not be reopened',
      'error settings not reloaded',
      'error outbox: the destinations could not be changed',
    ],
    meaning: 'SIGHUP: a step failed',
  },
  { messages: ['info settings reloaded'], meaning: 'SIGHUP: the new settings apply' },
  { messages: ['info shutting down'], meaning: '`signal` is the cause' },
  {
    messages: ['warn the database cannot be used', 'info the database is available'],
    meaning: 'until then changes get 503, and alerts wait in the spool',
  },
  {
    messages: ['error the database refused a change'],
    meaning: '`err` has the reason; only this change was refused, with 400',
  },
  {
    messages: ['error a record in the database is damaged'],
    meaning: '`damage` has the log and seq of the record, which is ignored: restore the row',
  },
  { messages: ['warn the seed was not loaded'], meaning: 'the database could not be used on startup' },
  {
    messages: ['warn alert log: records cannot be stored', 'warn alert log: records are stored again'],
    meaning: 'in between, alerts get 503',
    isOfLogs: true,
  },
  {
    messages: ['warn alert log: the file was opened again'],
    meaning: 'another program moved or changed the file',
    isOfLogs: true,
  },
  {
    messages: ['warn alert log: an incomplete last line'],
    meaning: '`savedAs` is the file with the line',
    isOfLogs: true,
  },
  {
    messages: ['error alert log: the log is damaged'],
    meaning: 'a line cannot be read, or a record is missing: `damage` has the file and the place; restore the file',
  },
  { messages: ['warn alert log: old files were deleted'], meaning: 'retention deleted `files`', isOfLogs: true },
  {
    messages: ['warn alert log: the end of the log cannot be read'],
    meaning: 'repeats of earlier alerts may be stored again',
  },
  {
    messages: ['warn command audit: ...', 'warn incident log: ...', 'warn settings log: ...', 'warn tasks log: ...'],
    meaning: 'the same for these and other logs',
    isOfLogs: true,
  },
  {
    messages: [
      'warn alert spool: alerts are waiting on disk for the database',
      'info alert spool: the alerts are in the database',
      'debug alert spool: alerts could not be moved to the database',
    ],
    meaning: 'see [alerts in a database](../how-it-works/durability.md#alerts-in-a-database)',
  },
  {
    messages: ['warn outbox: an alert was not delivered'],
    meaning: '`destination` did not accept it because of `reason`; logged once',
  },
  {
    messages: ['warn outbox: the destination is failing', 'info outbox: deliveries have resumed'],
    meaning: '[the receiver](configuration.md#destinations) refuses what `destination` sends, or accepts nothing',
  },
  {
    messages: ['warn outbox: the alert about a ...', 'error outbox: the alert log could not be read'],
    meaning: 'retried',
  },
  { messages: ['warn outbox: the alert log was replaced'], meaning: 'delivery continues at the end of the new log' },
  { messages: ['error notifications: incidents cannot be read'], meaning: 'nobody is notified; retried every second' },
  {
    messages: ['error outbox: the delivery progress could not be written'],
    meaning: 'after a restart, `destination` repeats deliveries',
  },
  {
    messages: ['error outbox: the delivery progress cannot be read'],
    meaning: 'the file is damaged: `destination` gets all alerts again',
  },
  {
    messages: ['error outbox: a message was not sent because of an internal error'],
    meaning: 'a bug: signalbox gives up the alert `id`',
  },
  {
    messages: [
      'error notifications: the next planned change cannot be computed',
      'error notifications: the notifications of an incident cannot be planned',
    ],
    meaning: 'a bug: retried',
  },
  {
    messages: ['warn the key for acknowledgement links ...'],
    meaning: 'links in notifications become invalid when the server stops',
  },
  {
    messages: ['error alerts: the snapshot is damaged'],
    meaning: 'some firing alerts and repeats are unknown: a resolution may not name its alert',
  },
  {
    messages: ['warn alerts: the snapshot cannot be written'],
    meaning: 'retried; until then, retention deletes nothing from the alert log',
  },
  {
    messages: ['warn alerts: the alert log was replaced'],
    meaning: 'alerts that fired earlier stay open until they are resolved',
  },
  { messages: ['error incidents: alerts are stored, but ...'], meaning: 'retried every second' },
  {
    messages: ['error incidents: the snapshot is damaged'],
    meaning: '[the incidents that can be read are kept](../how-it-works/incidents.md#what-is-promised)',
  },
  {
    messages: ['error incidents: the state of version 1.1.0 cannot be read'],
    meaning: 'the incidents of 1.1.0 are lost; the alerts of the last day are processed again',
  },
  {
    messages: ['warn incidents: the snapshot cannot be written'],
    meaning: 'retried; until then, retention deletes nothing from the alert log',
  },
  { messages: ['warn incidents: the alert log was replaced'], meaning: 'counting continues at the end of the new log' },
  {
    messages: ['error settings: a setting cannot be read and has no effect'],
    meaning: '`reason`; the setting stays stored without effect: replace it, or [delete it](api/settings.md)',
  },
  {
    messages: ['error settings: the snapshot is damaged'],
    meaning: 'changes are missing, and deleted settings may be back: restore the folder, or repeat the changes',
  },
  {
    messages: [
      'warn settings: the snapshot cannot be written',
      'warn availability: the snapshot cannot be written',
      'warn status pages: the snapshot cannot be written',
      'warn heartbeats: the snapshot cannot be written',
      'warn tasks: the snapshot cannot be written',
      'warn items: the snapshot cannot be written',
      'warn simple-tasks: the snapshot cannot be written',
    ],
    meaning: 'retried; until then the log grows',
  },
  {
    messages: ['error silences: a silence cannot be used'],
    meaning:
      'a newer version stored the silence `id`, or comparing alerts with it takes too long: end the silence and create another',
  },
  {
    messages: [
      'error destinations: a stored destination cannot be used',
      'error notifications: a stored setting cannot be used and has no effect',
    ],
    meaning: 'a newer version stored the destination, way or policy `name`, which is not used',
  },
  {
    messages: ['error intake: a format cannot be used'],
    meaning: 'a newer version stored the format `name`, whose path is 404',
  },
  { messages: ['warn pictures: a picture could not be taken'], meaning: '`err` has the reason' },
  { messages: ['warn keys: the times of last use could not be stored'], meaning: 'retried every 10 minutes' },
  {
    messages: ['warn watches: an alert was not stored'],
    meaning: '`err` has the reason; retried after the next check',
  },
  {
    messages: ['warn alerts: receipt times from before startup cannot be loaded'],
    meaning: 'an expired alert is resolved `resolveTimeout` after startup at the earliest; `err` has the reason',
  },
  {
    messages: ['warn alerts: the resolution of an expired alert cannot be stored yet'],
    meaning: 'retried every 5 s; `err` has the reason',
  },
  {
    messages: ['warn login: the configured accounts could not be stored'],
    meaning: 'tokens of users who are removed from the config file before the next startup stay valid',
  },
  {
    messages: ['warn login: the revocation of tokens could not be stored'],
    meaning: '`err` has the reason; the request failed: repeat the request',
  },
  { messages: ['warn login: failed logins'], meaning: 'logins from `ip` are now delayed' },
  {
    messages: ['warn login: a login was refused', 'warn login: further refused logins'],
    meaning: 'a wrong password or user from `ip`; the first 20 of a minute have a line each',
  },
  {
    messages: ['warn availability: state changes of checks cannot be stored'],
    meaning: 'retried every second; the recorded times stay correct',
  },
  {
    messages: ['error status pages: a stored page cannot be used and is not served'],
    meaning: 'the page is not served; `name` has its name',
  },
  {
    messages: ['warn status pages: expired departures cannot be removed'],
    meaning: 'retried every hour',
  },
  {
    messages: ['warn status pages: emails to subscribers cannot be sent'],
    meaning: 'retried with pauses of up to 10 minutes, for 24 hours',
  },
  {
    messages: ['warn status pages: a confirmation email could not be sent'],
    meaning: 'the reader must subscribe again; `outcome` is `failed`, `deferred` or `refused`',
  },
  {
    messages: ['warn status pages: the key for confirmation links cannot be stored'],
    meaning: 'links become invalid when the server stops',
  },
  {
    messages: ['error status pages: the snapshot is damaged'],
    meaning: 'some announcements or subscribers are missing',
  },
  {
    messages: ['error availability: the snapshot is damaged'],
    meaning: 'some histories are missing',
  },
  {
    messages: [
      'warn heartbeats: due times cannot be checked',
      'warn heartbeats: the due time of a heartbeat cannot be checked',
      'warn heartbeats: a state change cannot be stored',
    ],
    meaning: 'retried every 5 s',
  },
  {
    messages: ['error heartbeats: the snapshot is damaged'],
    meaning: 'states and runs may be missing; the next pings restore the states',
  },
  {
    messages: ['error oncall: a stored rotation cannot be used and has no effect'],
    meaning: 'a newer version, or a system with other time zones, stored the rotation `name`; nobody is on call in it',
  },
  {
    messages: ['warn oncall: a message to a person was not sent'],
    meaning: 'the message is sent again within a minute',
  },
  { messages: ['warn oncall: alerts about gaps cannot be stored'], meaning: 'retried within a minute' },
  {
    messages: ['error heartbeats: a stored heartbeat cannot be used and has no effect'],
    meaning: 'a newer version stored the heartbeat `name`, which has no effect here',
  },
  {
    messages: [
      'warn hosts: alerts about hosts cannot be stored',
      'warn hosts: the readings of this machine cannot be stored',
    ],
    meaning: 'retried within 10 s',
  },
  {
    messages: [
      'warn hosts: the last states of hosts cannot be read',
      'warn hosts: the incidents of hosts cannot be counted',
    ],
    meaning: 'shown again after the next reports and changes',
  },
  { messages: ['warn hosts: a node_exporter cannot be scraped'], meaning: '`reason` says why; retried every 10 s' },
  {
    messages: ['warn watches: a watch from the hub cannot be used and has no effect'],
    meaning: 'the hub has another version; other watches are checked',
  },
  {
    messages: ['warn the hub refused stored readings; the readings are dropped'],
    meaning: '`reason` says why; current readings are accepted',
  },
  {
    messages: ['warn the hub is not receiving reports from this host'],
    meaning: '`reason` says why; readings are kept for 24 hours',
  },
  {
    messages: ['info the hub is receiving reports from this host'],
    meaning: 'the first report, or the first after a failure',
  },
  { messages: ['warn history: the file cannot be written'], meaning: 'a restart loses the history' },
  {
    messages: ['warn maxConnections is ... instead of ...'],
    meaning: 'raise the [limit on open files](configuration.md#settings)',
  },
  {
    messages: ['warn other accounts can ...', 'warn a group can ...'],
    meaning: 'unsafe [permissions](configuration.md#the-config-file)',
  },
  { messages: ['warn nobody can use ...'], meaning: 'a profile needs tokens, but nothing issues tokens' },
  {
    messages: ['warn ... is now called ...', 'warn ... is replaced by the setting access'],
    meaning: 'a setting of an older version, which still applies',
  },
  { messages: ['warn the variable ...'], meaning: 'a misspelt `SIGNALBOX_*` variable is ignored' },
  {
    messages: ['warn Warning: ... paths need no token'],
    meaning: 'others can reach `openRoutes`: set [`access`](configuration.md#access)',
  },
  { messages: ['info startup takes long: ...'], meaning: 'startup work that takes longer than two seconds' },
  { messages: ['warn an agent ignores ...'], meaning: 'settings that only a server uses' },
  {
    messages: ['info alertsRetainDays is not set'],
    meaning: 'a database of version 1.0 keeps alerts until you set `alertsRetainDays`',
  },
  { messages: ['info jwtSecret is not set'], meaning: 'tokens become invalid when the process ends' },
  { messages: ['debug request'], meaning: 'one line per request, with `traceparent` if sent' },
  { messages: ['debug the server does not listen'], meaning: "localhost's other address cannot be used" },
];
