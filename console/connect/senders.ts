import { toAddress } from '../api.ts';
import { findRoute } from '../routes.ts';
import type { connectTexts } from '../strings/connect.ts';

export type SenderName = keyof typeof connectTexts.names;

/** Returns the URL for senders, based on the address in the browser. */
export const toIntake = (): URL => new URL(toAddress(findRoute('createAlert')?.path ?? '/'));

/** Returns the intake format of a sender, or `native` for a sender without a specific format. */
export const toFormat = (sender: SenderName): string => {
  return ['github', 'syslog', 'cron', 'systemd', 'powershell', 'curl'].includes(sender) ? 'native' : sender;
};

/** Lines to paste, with this server's address and the key. */
export const toLines = (sender: SenderName, intake: URL, key: string): string => {
  const format = toFormat(sender);
  const url = format === 'native' ? intake.href : `${intake.href}/${format}`;
  const bearer = `Authorization: Bearer ${key}`;
  switch (sender) {
    case 'alertmanager':
      return `route:
  receiver: signalbox

receivers:
${toReceiver(url, key)}`;
    case 'prometheus': {
      const prefix = intake.pathname.replace(/\/api\/alert$/, '');
      return `alerting:
  alertmanagers:
    - scheme: ${intake.protocol.slice(0, -1)}
      api_version: v2${prefix && `\n      path_prefix: ${prefix}`}
      authorization:
        credentials: ${key}
      static_configs:
        - targets: ['${intake.host}']`;
    }
    case 'grafana':
      return `URL: ${url}
HTTP Method: POST
Authorization Header Scheme: Bearer
Authorization Header Credentials: ${key}`;
    case 'uptime-kuma':
      return `Notification Type: Webhook
Post URL: ${url}
Request Body: Preset - application/json
Additional Headers: {"Authorization": "Bearer ${key}"}`;
    case 'github': {
      const [repository, workflow, server, run] = ['repository', 'workflow', 'server_url', 'run_id'].map(
        (name) => `github.${name}`,
      );
      // Passed as JSON in a variable, because a name may contain quotes.
      return `- if: failure()
  shell: bash
  env:
    KEY: ${toExpression('secrets.SIGNALBOX_KEY')}
    ALERT: >-
      {"source": ${toExpression(`toJSON(format('github/{0}', ${repository}))`)}, "level": "ERROR",
      "message": ${toExpression(`toJSON(format('{0} has failed', ${workflow}))`)},
      "link": ${toExpression(`toJSON(format('{0}/{1}/actions/runs/{2}', ${server}, ${repository}, ${run}))`)}}
  run: >-
    printf 'Authorization: Bearer %s' "$KEY" | curl -fsS ${url} -H @- -d "$ALERT"`;
    }
    case 'otlp':
      return toCollector(url, key);
    case 'syslog':
      return toRsyslog(url, bearer);
    case 'cron':
      return `${toVariables(intake, key)}
cat > /etc/cron.d/backup << 'END'
PATH=/usr/local/bin:/usr/bin:/bin
0 2 * * * root set -a; . /etc/signalbox/client.env; signalbox run --source backup -- /usr/local/bin/backup
END`;
    case 'systemd':
      return `${toVariables(intake, key)}
# A job: its failure, and its next success
cat > /etc/systemd/system/backup.service << 'END'
[Service]
Type=oneshot
EnvironmentFile=/etc/signalbox/client.env
ExecStart=signalbox run --source backup -- /usr/local/bin/backup
END

# Any other unit: its failure
cat > /etc/systemd/system/alert@.service << 'END'
[Service]
Type=oneshot
EnvironmentFile=/etc/signalbox/client.env
ExecStart=signalbox send --source systemd --key %i --level ERROR "%i has failed"
END`;
    case 'powershell':
      return `$alert = @{ source = 'me'; level = 'INFO'; message = 'hello' } | ConvertTo-Json
Invoke-RestMethod ${url} -Method Post -Body $alert -ContentType 'application/json; charset=utf-8' -Headers @{ Authorization = 'Bearer ${key}' }`;
    case 'curl':
      return `${toVariables(intake, key)}
set -a; . /etc/signalbox/client.env

# With signalbox on the machine:
signalbox run --source backup -- /usr/local/bin/backup

# Without:
report() {
  printf 'Authorization: Bearer %s' "$SIGNALBOX_KEY" | curl -fsS ${url} -H @- -d "{
    \\"source\\": \\"backup\\", \\"hostname\\": \\"$(hostname)\\", \\"key\\": \\"backup/$(hostname)\\",
    \\"level\\": \\"ERROR\\", \\"status\\": \\"$1\\", \\"message\\": \\"The backup $2\\"}"
}
if /usr/local/bin/backup; then report resolved 'has succeeded'; else report firing 'has failed'; fi`;
    default:
      return `${url}\n${bearer}`;
  }
};

/** Lines to add to an existing configuration. Undefined for senders that need none. */
export const toOtherLines = (sender: SenderName, intake: URL, key: string): string | undefined =>
  sender !== 'alertmanager'
    ? undefined
    : `route:
  receiver: team # as before
  routes:
    - receiver: signalbox # new, before all other routes
      continue: true

receivers:
  - name: team # as before
${toReceiver(`${intake.href}/alertmanager`, key)}`;

const toReceiver = (url: string, key: string): string => `  - name: signalbox
    webhook_configs:
      - url: ${url}
        send_resolved: true
        max_alerts: 1000
        http_config:
          authorization:
            credentials: ${key}`;

/**
 * Lines that store address and key in a file that only root can read, because arguments would be visible to any user on
 * the machine.
 */
const toVariables = (intake: URL, key: string): string => `mkdir -p /etc/signalbox
(umask 077; cat > /etc/signalbox/client.env) << 'END'
SIGNALBOX_URL=${intake.href.replace(/\/api\/alert$/, '')}
SIGNALBOX_KEY=${key}
END
`;

/** Formats an expression for GitHub Actions. */
const toExpression = (name: string): string => ['$', '{{ ', name, ' }}'].join('');

/**
 * Returns the rsyslog configuration and the program that it starts. The program reads lines from rsyslog, sends an
 * alert for each line and confirms each line. Messages from signalbox and rsyslog are excluded to prevent a loop.
 */
const toRsyslog = (url: string, bearer: string): string => `cat > /usr/local/bin/syslog-alerts << 'END'
#!/bin/sh
echo OK
while read -r alert; do
  status=$(printf '${bearer}' | curl -s -o /dev/null -w '%{http_code}' ${url} -H @- -d "$alert")
  case $status in 200 | 400 | 413) echo OK ;; *) echo "status $status" ;; esac
done
END
chmod 700 /usr/local/bin/syslog-alerts
cat > /etc/rsyslog.d/signalbox.conf << 'END'
module(load="omprog")
module(load="mmutf8fix")
module(load="mmrm1stspace")
template(name="alert" type="list" option.jsonf="on") {
  property(outname="source" name="programname" format="jsonf")
  property(outname="level" name="syslogseverity-text" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
  property(outname="hostname" name="hostname" format="jsonf")
}
if $syslogseverity <= 3 and not ($programname == ["signalbox", "rsyslogd"]) then {
  action(type="mmutf8fix")
  action(type="mmrm1stspace")
  action(type="omprog" binary="/usr/local/bin/syslog-alerts" template="alert" confirmMessages="on"
    queue.type="LinkedList" action.resumeRetryCount="-1")
}
END
systemctl restart rsyslog`;

const toCollector = (url: string, key: string): string => `processors:
  filter/alerts:
    logs:
      log_record:
        - severity_number < SEVERITY_NUMBER_ERROR
  batch/alerts:
    send_batch_max_size: 1000
    send_batch_size: 1000

exporters:
  otlphttp/signalbox:
    logs_endpoint: ${url}
    headers:
      Authorization: Bearer ${key}

service:
  pipelines:
    logs/alerts:
      receivers: [otlp]
      processors: [filter/alerts, batch/alerts]
      exporters: [otlphttp/signalbox]`;
