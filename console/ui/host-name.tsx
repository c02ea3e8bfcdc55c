import { Fragment } from 'preact';
import { findHost } from '../live/hosts.ts';
import { toHash } from '../router.ts';

/** Host name of an alert, with a link if the machine is a host. */
export const HostName = ({ hostname }: { hostname: string }) => {
  const name = findHost(hostname);
  if (name === undefined) return <bdi>{hostname}</bdi>;
  return (
    <a href={toHash(`/hosts/${encodeURIComponent(name)}`)}>
      <bdi>{hostname}</bdi>
    </a>
  );
};

/** Names of hosts. The names of known hosts are links. */
export const HostLinks = ({ names }: { names: readonly string[] }) => (
  <span>
    {names.map((each, index) => (
      <Fragment key={each}>
        {index > 0 && ', '}
        <HostName hostname={each} />
      </Fragment>
    ))}
  </span>
);

/** Source and host of an alert, on one line. */
export const Origin = ({ source, hostname }: { source: string; hostname: string }) => (
  <>
    <bdi>{source}</bdi>
    {source && hostname && ' · '}
    <HostName hostname={hostname} />
  </>
);
