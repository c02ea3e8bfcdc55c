import { type DestinationType, jsonType, toBody, toPath, toTitle } from './type.ts';

/** Slack truncates longer texts. */
const maxBytes = 4000;

/** An incoming webhook of Slack, Mattermost or Rocket.Chat; its `url` is secret itself. */
export const slackDestination: DestinationType = {
  name: 'slack',
  secret: 'none',
  toRequest: (alert, { url }) => {
    const link = alert.link === undefined ? '' : `\n<${escapeText(alert.link).replaceAll('|', '%7C')}>`;
    const text = `*${escapeText(toTitle(alert))}*\n${escapeText(toBody(alert, maxBytes))}${link}`;
    return { path: toPath(url), headers: jsonType, body: JSON.stringify({ text }) };
  },
};

/** Keeps texts from being read as links and mentions such as `<!channel>`. */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
