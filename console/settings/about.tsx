import { useSignal } from '@preact/signals';
import { client } from '../api.ts';
import { now } from '../clock.ts';
import { toBytes, toCount, toDuration, toSeconds } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { isReadable, serverFacts } from '../routes.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { type Fact, Facts } from '../ui/facts.tsx';
import { Failure, Unloaded } from '../ui/panel.tsx';

const readServer = async (signal: AbortSignal) => {
  const [about, server, info] = await Promise.all([
    isReadable('getAbout') ? client.getAbout(undefined, { signal }) : undefined,
    isReadable('getServerHealth') ? client.getServerHealth(undefined, { signal }) : undefined,
    isReadable('getInfo') ? client.getInfo(undefined, { signal }) : undefined,
  ]);
  return { about, server, info, readAt: Date.now() };
};

/** Version and environment of the server. Shows only values that mounted routes report. */
export const AboutSection = () => {
  const { value: { about, server, info, readAt = 0 } = {}, error, reload } = useResource(readServer);
  const uptime = about?.uptimeSeconds ?? (server && toSeconds(server.uptime));
  const facts: Fact[] = [
    [words.about.version, serverFacts.version],
    [words.about.uptime, uptime === undefined ? undefined : toDuration(uptime + (now() - readAt) / 1000)],
    [words.about.store, about && words.about.stores[about.store]],
    [words.about.folder, about?.dataFolder],
    [words.about.free, about?.freeBytes == null ? undefined : toBytes(about.freeBytes)],
    [words.about.machine, server?.hostname],
    [words.about.system, info?.os],
    [words.about.runtime, about?.runtime ?? info?.frameworkVersion],
    [words.about.zone, serverFacts.timeZone],
    [words.about.licence, serverFacts.license],
  ];
  return (
    <>
      {error && <Failure error={error} onRetry={reload} />}
      <Facts facts={facts} />
      {isReadable('listLicences') && <Licences />}
    </>
  );
};

/** Licences of the bundled libraries, loaded on demand. */
const Licences = () => {
  const isWanted = useSignal(false);
  return (
    <details
      onToggle={({ currentTarget }) => {
        isWanted.value ||= currentTarget.open;
      }}
    >
      <summary>{words.about.licences}</summary>
      {isWanted.value && <LicenceList />}
    </details>
  );
};

const LicenceList = () => {
  const { value, error, reload } = useResource((signal) => client.listLicences(undefined, { signal }));
  if (!value) return <Unloaded error={error} reload={reload} lines={12} />;
  return (
    <>
      <p class="hint">{words.about.libraries(toCount(value.count))}</p>
      {value.data.map(({ name, version, licence, text }) => (
        <details key={`${name} ${version}`} class="licence">
          <summary>
            {name} {version} <span class="hint">{licence}</span>
          </summary>
          <pre>{text}</pre>
        </details>
      ))}
    </>
  );
};
