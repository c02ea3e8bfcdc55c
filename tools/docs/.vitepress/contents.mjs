/** Order of the site's pages, and its first page. A page that is missing here fails a test. */
const page = (text, link) => ({ text, link });
const group = (text, items, collapsed) => ({ text, items, collapsed });

export const sidebar = [
  group('Start', [
    page('Your first alert', '/start'),
    page('When not to use it', '/when-not-to-use-it'),
    page('Glossary', '/glossary'),
  ]),
  group('Guides', [
    page('Install', '/guides/install'),
    page('Create keys for programs', '/guides/keys'),
    group(
      'Connect senders',
      [
        page('All senders', '/guides/senders/'),
        page('Scripts and cron', '/guides/scripts'),
        page('Alertmanager', '/guides/senders/alertmanager'),
        page('Prometheus', '/guides/senders/prometheus'),
        page('Grafana', '/guides/senders/grafana'),
        page('Uptime Kuma', '/guides/senders/uptime-kuma'),
        page('OpenTelemetry', '/guides/senders/opentelemetry'),
        page('CloudEvents', '/guides/senders/cloudevents'),
        page('PagerDuty’s events', '/guides/senders/pagerduty'),
        page('Slack’s webhooks', '/guides/senders/slack'),
        page('Any other webhook', '/guides/senders/custom'),
      ],
      true,
    ),
    group(
      'Get notified',
      [
        page('Who is notified, and when', '/guides/notifications'),
        page('On call', '/guides/oncall'),
        page('ntfy', '/guides/destinations/ntfy'),
        page('Email', '/guides/destinations/email'),
        page('Slack', '/guides/destinations/slack'),
        page('Gotify', '/guides/destinations/gotify'),
        page('Apprise', '/guides/destinations/apprise'),
        page('Webhook', '/guides/destinations/webhook'),
        page('Alertmanager', '/guides/destinations/alertmanager'),
        page('Any other receiver', '/guides/destinations/template'),
      ],
      true,
    ),
    page('Watch machines and web sites', '/guides/watches'),
    page('Watch cron jobs', '/guides/heartbeats'),
    page('Use the console', '/guides/console'),
    page('Run it as a service', '/guides/systemd'),
    page('Put it behind nginx', '/guides/proxy'),
    page('Back up and restore', '/guides/backup'),
    page('Upgrade', '/guides/upgrading'),
    page('Run several instances', '/guides/scaling'),
    page('Write a client', '/guides/client'),
  ]),
  group('Reference', [
    page('Settings', '/reference/configuration'),
    page('Routes', '/reference/api'),
    page('Metrics', '/reference/api#metrics'),
    page('Diagnostic commands', '/reference/commands'),
    page('Command line', '/reference/command-line'),
    page('Operating', '/reference/operating'),
    page('Log lines', '/reference/operating#log'),
    page('Files', '/reference/operating#the-data-directory'),
    page('Limits', '/reference/operating#limits'),
  ]),
  group('How it works', [
    page('Incidents', '/how-it-works/incidents'),
    page('Durability and delivery', '/how-it-works/durability'),
    page('Security', '/how-it-works/security'),
    page('Architecture', '/how-it-works/architecture'),
    page('Decisions', '/decisions/'),
    page('Benchmarks', '/how-it-works/benchmarks'),
    page('Tests', '/how-it-works/testing'),
  ]),
];

export const home = {
  layout: 'home',
  hero: {
    name: 'signalbox',
    text: 'An operations desk for your servers',
    tagline:
      'Alerts come in through one URL and become incidents. The right person is reminded until somebody takes them.',
    actions: [
      { theme: 'brand', text: 'Your first alert', link: '/start' },
      { theme: 'alt', text: 'What it replaces', link: '/when-not-to-use-it' },
    ],
  },
};
