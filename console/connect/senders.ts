import { toAddress } from '../api.ts';
import { findRoute } from '../routes.ts';
import type { connect } from '../strings/connect.ts';

export type Sender = keyof typeof connect.names;

/** The address that senders use, as the browser has it. */
export const toIntake = (): URL => new URL(toAddress(findRoute('createAlert')?.path ?? '/'));

/** The intake format of a sender; `native` for those that send what signalbox itself wants. */
export const toFormat = (sender: Sender): string => {
  if (sender === 'syslog') return 'otlp';
  return ['github', 'cron', 'systemd', 'powershell', 'curl'].includes(sender) ? 'native' : sender;
};

/** Lines that are ready to paste, with the address of this server and the key. */
export const toLines = (sender: Sender, intake: URL, key: string): string => {
  const format = toFormat(sender);
  const url = format === 'native' ? intake.href : `${intake.href}/${format}`;
  const bearer = `Authorization: Bearer ${key}`;
  const curl = (alert: object, header = bearer) =>
    `curl -fsS ${url} -H "${header}" -d '${JSON.stringify(alert).replaceAll('":"', '": "').replaceAll('","', '", "')}'`;
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
      const [repository, server, run] = ['repository', 'server_url', 'run_id'].map((name) =>
        toExpression(`github.${name}`),
      );
      const alert = {
        source: `github/${repository}`,
        level: 'ERROR',
        message: `${toExpression('github.workflow')} has failed`,
        link: `${server}/${repository}/actions/runs/${run}`,
      };
      const header = `Authorization: Bearer ${toExpression('secrets.SIGNALBOX_KEY')}`;
      return `- if: failure()\n  run: >-\n    ${curl(alert, header)}`;
    }
    case 'otlp':
      return toCollector(url, key, 'otlp');
    case 'syslog':
      return `receivers:
  syslog:
    protocol: rfc5424
    tcp:
      listen_address: 127.0.0.1:54526

${toCollector(url, key, 'syslog')}`;
    case 'cron':
      return `0 2 * * * backup.sh || ${curl({ source: 'backup', level: 'ERROR', message: 'The backup has failed' })}`;
    case 'systemd':
      return `[Service]
Type=oneshot
ExecStart=/usr/bin/${curl({ source: 'systemd', level: 'ERROR', message: '%i has failed', hostname: '%H' })}`;
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

const toCollector = (url: string, key: string, receiver: string): string => `processors:
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
      receivers: [${receiver}]
      processors: [filter/alerts, batch/alerts]
      exporters: [otlphttp/signalbox]`;
