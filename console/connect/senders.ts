import { toAddress } from '../api.ts';
import { findRoute } from '../routes.ts';
import type { connectTexts } from '../strings/connect.ts';

export type SenderName = keyof typeof connectTexts.names;

/** The address that senders use, as the browser has it. */
export const toIntake = (): URL => new URL(toAddress(findRoute('createAlert')?.path ?? '/'));

/** The intake format of a sender; `native` for those that send what signalbox itself wants. */
export const toFormat = (sender: SenderName): string => {
  return ['github', 'syslog', 'cron', 'systemd', 'powershell', 'curl'].includes(sender) ? 'native' : sender;
};

/** Lines that are ready to paste, with the address of this server and the key. */
export const toLines = (sender: SenderName, intake: URL, key: string): string => {
  const format = toFormat(sender);
  const url = format === 'native' ? intake.href : `${intake.href}/${format}`;
  const bearer = `Authorization: Bearer ${key}`;
  const curl = (alert: object) =>
    `curl -fsS ${url} -H "${bearer}" -d '${JSON.stringify(alert).replaceAll('":"', '": "').replaceAll('","', '", "')}'`;
  switch (sender) {
    case 'alertmanager':
      return `route:
  receiver: signalbox

receivers:
  - name: signalbox
    webhook_configs:
      - url: ${url}
        send_resolved: true
        http_config:
          authorization:
            credentials: ${key}`;
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
      // A name may have quotes, so it is passed as JSON in a variable, and not in the text of a script.
      return `- if: failure()
  shell: bash
  env:
    KEY: ${toExpression('secrets.SIGNALBOX_KEY')}
    ALERT: >-
      {"source": ${toExpression(`toJSON(format('github/{0}', ${repository}))`)}, "level": "ERROR",
      "message": ${toExpression(`toJSON(format('{0} has failed', ${workflow}))`)},
      "link": ${toExpression(`toJSON(format('{0}/{1}/actions/runs/{2}', ${server}, ${repository}, ${run}))`)}}
  run: >-
    curl -fsS ${url} -H "Authorization: Bearer $KEY" -d "$ALERT"`;
    }
    case 'otlp':
      return toCollector(url, key);
    case 'syslog':
      return toRsyslog(url, bearer);
    case 'cron':
      return `0 2 * * * backup.sh || ${curl({ source: 'backup', level: 'ERROR', message: 'The backup has failed' })}`;
    case 'systemd': {
      // Names of units may have backslashes, which JSON escapes.
      const start = '{"source": "systemd", "level": "ERROR", "hostname": "%H", "message": "';
      const send = `curl -fsS ${url} -H "${bearer}" -d "$$1$$(echo "$$2" | sed "s/[\\\\]/&&/g")$$3"`;
      return `[Service]
Type=oneshot
ExecStart=/bin/sh -c '${send}' sh '${start}' '%i' ' has failed"}'`;
    }
    case 'powershell':
      return `$alert = @{ source = 'me'; level = 'INFO'; message = 'hello' } | ConvertTo-Json
Invoke-RestMethod ${url} -Method Post -Body $alert -ContentType 'application/json; charset=utf-8' -Headers @{ Authorization = 'Bearer ${key}' }`;
    case 'curl':
      return curl({ source: 'me', level: 'INFO', message: 'hello' });
    default:
      return `${url}\n${bearer}`;
  }
};

/** What GitHub replaces in a workflow. */
const toExpression = (name: string): string => ['$', '{{ ', name, ' }}'].join('');

/**
 * A program that sends what rsyslog gives it, a line for each alert, and says of each whether it may be forgotten; and the
 * configuration that calls it. What signalbox and rsyslog say themselves would come again and again.
 */
const toRsyslog = (url: string, bearer: string): string => `cat > /usr/local/bin/syslog-alerts << 'END'
#!/bin/sh
echo OK
while read -r alert; do
  status=$(curl -s -o /dev/null -w '%{http_code}' ${url} -H '${bearer}' -d "$alert")
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
    encoding: json
    compression: none
    headers:
      Authorization: Bearer ${key}

service:
  pipelines:
    logs/alerts:
      receivers: [otlp]
      processors: [filter/alerts, batch/alerts]
      exporters: [otlphttp/signalbox]`;
