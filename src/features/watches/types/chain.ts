import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { listTrusted, parseCertificates } from '../../../kit/authorities.ts';

/** Expiry of a certificate chain. */
export interface ChainEnd {
  validTo: Date;
  /** Name of the signer whose certificate expires first. Undefined if the server's own certificate expires first. */
  signer: string | undefined;
}

/** Maximum number of certificates to read from a server. Servers usually send three or four. */
const maxSent = 16;

let trustedBySubject: ReadonlyMap<string, X509Certificate[]> | undefined;

/** Reads the trusted certificates only once, because that takes some milliseconds. */
const readTrusted = (): ReadonlyMap<string, X509Certificate[]> => {
  if (trustedBySubject) return trustedBySubject;
  const found = new Map<string, X509Certificate[]>();
  for (const certificate of listTrusted().flatMap(parseCertificates)) {
    found.set(certificate.subject, [...(found.get(certificate.subject) ?? []), certificate]);
  }
  trustedBySubject = found;
  return found;
};

/** Lists the certificates sent by a server, starting with its own. */
export const listSentCertificates = (socket: Partial<Pick<TLSSocket, 'getPeerX509Certificate'>>): X509Certificate[] => {
  const sent: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate?.();
  while (next && sent.length < maxSent) {
    sent.push(next);
    next = next.issuerCertificate;
  }
  return sent;
};

/** Certificate, with the expiry of the best path to it. */
interface Step {
  certificate: X509Certificate;
  isTrusted: boolean;
  end: number;
  weakest: X509Certificate;
}

/**
 * Finds the time at which the certificate chain expires. The chain leads from the first certificate to a trusted
 * certificate, or else to the last certificate that was sent. Cross-signed certificates have several paths: the path
 * that is valid for longest counts, and on that path the certificate that expires first.
 */
export const findChainEnd = (
  sent: readonly X509Certificate[],
  extra: readonly X509Certificate[],
): ChainEnd | undefined => {
  const [own] = sent;
  if (!own) return undefined;
  const trusted = [...extra, ...listTrustedSigners([...sent, ...extra])];
  const steps = walk(own, [...sent, ...trusted], new Set(trusted.map(({ fingerprint256 }) => fingerprint256)));
  const anchors = steps.filter(({ isTrusted }) => isTrusted);
  const ends =
    anchors.length > 0
      ? anchors
      : steps.filter((step) => !steps.some((other) => isSigner(other.certificate, step.certificate)));
  const best = (ends.length > 0 ? ends : steps).reduce((one, other) => (other.end > one.end ? other : one));
  return {
    validTo: new Date(best.weakest.validTo),
    signer: best.weakest === own ? undefined : toName(best.weakest),
  };
};

/** Finds the best path from the first certificate to each reachable certificate. */
const walk = (own: X509Certificate, all: readonly X509Certificate[], trusted: ReadonlySet<string>): Step[] => {
  const toStep = (certificate: X509Certificate, before?: Step): Step => {
    const end = Date.parse(certificate.validTo);
    const isWeaker = before === undefined || end < before.end;
    return {
      certificate,
      isTrusted: trusted.has(certificate.fingerprint256),
      end: isWeaker ? end : before.end,
      weakest: isWeaker ? certificate : before.weakest,
    };
  };
  const best = new Map([[own.fingerprint256, toStep(own)]]);
  const open = [own.fingerprint256];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const step = best.get(next) as Step;
    for (const signer of all) {
      if (!isSigner(signer, step.certificate)) continue;
      const found = toStep(signer, step);
      const rival = best.get(signer.fingerprint256);
      if (rival && rival.end >= found.end) continue;
      best.set(signer.fingerprint256, found);
      open.push(signer.fingerprint256);
    }
  }
  return [...best.values()];
};

/** True if a certificate has signed another certificate. */
const isSigner = (signer: X509Certificate, certificate: X509Certificate): boolean =>
  signer.fingerprint256 !== certificate.fingerprint256 &&
  certificate.issuer === signer.subject &&
  certificate.checkIssued(signer) &&
  certificate.verify(signer.publicKey);

/** Lists the trusted certificates that signed at least one of the certificates. */
const listTrustedSigners = (certificates: readonly X509Certificate[]): X509Certificate[] =>
  certificates.flatMap(({ issuer }) => readTrusted().get(issuer) ?? []);

const toName = ({ subject }: X509Certificate): string =>
  /^CN=(.+)$/m.exec(subject)?.[1] ?? subject.split('\n').at(-1) ?? '';
