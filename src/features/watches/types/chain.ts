import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { listTrusted, parseCertificates } from '../../../kit/authorities.ts';

/** When a chain of certificates stops working. */
export interface ChainEnd {
  validTo: Date;
  /** The name of the certificate that ends first; undefined for that of the server itself. */
  signer: string | undefined;
}

/** Servers send three or four; others are left out. */
const mostSent = 16;

let trustedBySubject: ReadonlyMap<string, X509Certificate[]> | undefined;

/** Reading them takes some milliseconds. */
const readTrusted = (): ReadonlyMap<string, X509Certificate[]> => {
  if (trustedBySubject) return trustedBySubject;
  const found = new Map<string, X509Certificate[]>();
  for (const certificate of listTrusted().flatMap(parseCertificates)) {
    found.set(certificate.subject, [...(found.get(certificate.subject) ?? []), certificate]);
  }
  trustedBySubject = found;
  return found;
};

/** The certificates that a server has sent, its own first; none if it has sent none. */
export const listSent = (socket: Partial<Pick<TLSSocket, 'getPeerX509Certificate'>>): X509Certificate[] => {
  const sent: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate?.();
  while (next && sent.length < mostSent) {
    sent.push(next);
    next = next.issuerCertificate;
  }
  return sent;
};

/** A certificate, and the end of the best way to it. */
interface Step {
  certificate: X509Certificate;
  isTrusted: boolean;
  end: number;
  weakest: X509Certificate;
}

/**
 * The end of a chain from the first certificate to one that is trusted, or else to the last one that was sent. Of several
 * ways, as cross-signed certificates have them, the one that works longest counts, and of its certificates the first to end.
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

/** The best way to each certificate that can be reached from the first one. */
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

/** Whether one certificate has signed another one; one that has signed itself has signed no other. */
const isSigner = (signer: X509Certificate, certificate: X509Certificate): boolean =>
  signer.fingerprint256 !== certificate.fingerprint256 &&
  certificate.issuer === signer.subject &&
  certificate.checkIssued(signer) &&
  certificate.verify(signer.publicKey);

/** Roots, and what they have signed that is trusted too. */
const listTrustedSigners = (certificates: readonly X509Certificate[]): X509Certificate[] =>
  certificates.flatMap(({ issuer }) => readTrusted().get(issuer) ?? []);

const toName = ({ subject }: X509Certificate): string =>
  /^CN=(.+)$/m.exec(subject)?.[1] ?? subject.split('\n').at(-1) ?? '';
