import type { Format } from './format.ts';
import { alertmanager } from './formats/alertmanager.ts';
import { cloudevents } from './formats/cloudevents.ts';
import { grafana } from './formats/grafana.ts';
import { otlp } from './formats/otlp.ts';
import { pagerduty } from './formats/pagerduty.ts';
import { prometheus } from './formats/prometheus.ts';
import { slack } from './formats/slack.ts';
import { uptimeKuma } from './formats/uptime-kuma.ts';

/** Every format, one line for each file in `formats`. */
export const formats: readonly Format[] = [
  alertmanager,
  prometheus,
  grafana,
  uptimeKuma,
  cloudevents,
  slack,
  pagerduty,
  otlp,
];
