import { client } from '../api.ts';
import { now } from '../clock.ts';
import { toDuration, toSeconds } from '../format.ts';
import { useResource } from '../live/resource.ts';

import { isReadable, openApi } from '../routes.ts';
import { settings as words } from '../strings/settings.ts';
import { Facts } from '../ui/facts.tsx';
import { Failure } from '../ui/panel.tsx';

const readServer = async (signal: AbortSignal) => {
  const [server, info] = await Promise.all([
    isReadable('getServerHealth') ? client.getServerHealth(undefined, { signal }) : undefined,
    isReadable('getInfo') ? client.getInfo(undefined, { signal }) : undefined,
  ]);
  return { server, info, readAt: Date.now() };
};

/** What this server is, as far as its routes say. */
export const About = () => {
  const { value: { server, info, readAt = 0 } = {}, error, reload } = useResource(readServer);
  const { version, license } = openApi.value?.info ?? {};
  const facts: [string, string | undefined][] = [
    [words.about.version, version],
    [words.about.machine, server?.hostname],
    [words.about.system, info?.os],
    [words.about.runtime, info?.frameworkVersion],
    [words.about.uptime, server && toDuration(toSeconds(server.uptime) + (now() - readAt) / 1000)],
    [words.about.zone, openApi.value?.['x-signalbox-time-zone']],
    [words.about.licence, license?.name],
  ];
  return (
    <>
      {error && <Failure error={error} onRetry={reload} />}
      <Facts facts={facts.filter((fact): fact is [string, string] => fact[1] !== undefined)} />
    </>
  );
};
