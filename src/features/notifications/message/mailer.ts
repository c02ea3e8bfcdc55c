import type { MailOutcome, OutsideMail } from '../../../kit/offers.ts';
import { type Reach, UncheckedAddress } from '../../../kit/reach.ts';
import type { KnownDestination } from '../destination-kind.ts';
import { toDestinationDefinition } from '../destinations/definition.ts';
import { toMailAddress } from '../destinations/mail.ts';
import type { MailSender } from '../destinations/smtp.ts';
import { toSingleLine } from './plain-text.ts';

const timeoutSeconds = 30;

/** Sends mails to people outside, using the mail server of a destination. */
export class Mailer {
  readonly #find: () => KnownDestination | undefined;
  readonly #reach: Reach;
  #opened: { from: KnownDestination; sender: MailSender } | undefined;

  /** `find` returns the destination with the mail server to use. */
  constructor(find: () => KnownDestination | undefined, reach: Reach) {
    this.#find = find;
    this.#reach = reach;
  }

  get isUsable(): boolean {
    return this.#find() !== undefined;
  }

  /** Sends a mail once. */
  async send({ id, to, subject, text, headers }: OutsideMail): Promise<MailOutcome> {
    const destination = this.#find();
    const { from } = destination?.settings ?? {};
    if (!destination || from === undefined) return 'failed';
    try {
      const sender = await this.#open(destination);
      const author = toMailAddress(from);
      const { outcome, concernsOneMail } = await sender.send({
        from: author,
        to: [{ name: '', address: to }],
        subject: toSingleLine(subject),
        text,
        date: new Date(),
        messageId: `<${id}@${author.address.split('@')[1] ?? 'localhost'}>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All', ...headers },
      });
      if (outcome.kind === 'delivered' || outcome.kind === 'refused') return outcome.kind;
      return concernsOneMail ? 'deferred' : 'failed';
    } catch (error) {
      if (error instanceof UncheckedAddress) return 'failed';
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#opened?.sender.close();
  }

  /** Returns the sender for a destination. The sender keeps connections open briefly. */
  async #open(destination: KnownDestination): Promise<MailSender> {
    const { settings, setting } = destination;
    const { receiver, isRuntimeSetting } = toDestinationDefinition(settings, setting !== undefined);
    // The setting `watchTargets` may have changed since the last mail.
    if (isRuntimeSetting) this.#reach.assertHost(receiver.url.hostname);
    if (this.#opened?.from === destination) return this.#opened.sender;
    await this.close();
    const { createMailSender } = await import('../destinations/smtp.ts');
    const sender = createMailSender(receiver, timeoutSeconds, isRuntimeSetting ? this.#reach.lookup : undefined);
    this.#opened = { from: destination, sender };
    return sender;
  }
}
