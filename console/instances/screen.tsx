import type { Instance } from 'signalbox/client';
import { client } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toCount, toRelative, toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { ListHead } from '../ui/list-head.tsx';
import { OneLine } from '../ui/one-line.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';

const words = text.instances;

/** Instances that share the database. */
const InstancesScreen = () => {
  const load = (signal: AbortSignal) => client.listInstances(undefined, { signal });
  const { value, error, reload } = useResource(load, { topic: 'host', calm: 5000 });
  if (error || !value) return <Unloaded error={error} reload={reload} lines={4} />;
  const { data } = value;
  return (
    <div class="list">
      <ListHead count={words.shown(toCount(data.length))} onRefresh={reload} />
      <Table
        label={text.titles.instances}
        columns={columns}
        rows={data}
        rowKey={({ instance }) => instance}
        compact={toCompact}
      />
    </div>
  );
};

const State = ({ isLive }: Instance) => (
  <Chip tone={isLive ? 'good' : 'warning'} icon={isLive ? 'check' : 'warning'}>
    {isLive ? words.live : words.gone}
  </Chip>
);

const Name = ({ name, isThis }: Instance) => (
  <>
    <OneLine value={name} title={words.name} /> {isThis && <span class="hint">({words.here})</span>}
  </>
);

const Seen = ({ seenAt }: Instance) => (
  <time dateTime={seenAt} title={toTime(new Date(seenAt))}>
    {toRelative(untilTime(Date.parse(seenAt)))}
  </time>
);

const columns: Column<Instance>[] = [
  { key: 'name', title: words.name, cell: Name },
  { key: 'state', title: words.state, width: '9rem', cell: State },
  { key: 'seen', title: words.seen, width: '10rem', cell: Seen },
  { key: 'version', title: words.version, width: '8rem', cell: ({ version }) => version },
  {
    key: 'instance',
    title: words.instance,
    isMinor: true,
    cell: ({ instance }) => <span class="mono">{instance}</span>,
  },
];

const toCompact = (instance: Instance) => (
  <TwoLines
    title={<Name {...instance} />}
    hint={
      <>
        {instance.isLive ? words.live : words.gone} · <Seen {...instance} /> · {instance.version}
      </>
    }
  />
);

export const instancesView: ScreenView = { Screen: InstancesScreen };
