import { Fragment } from 'preact';
import { toHash } from '../router.ts';

const screens = { watch: '/watches', heartbeat: '/heartbeats', host: '/hosts' } as const;

/** Names of watches, heartbeats and hosts. Names that include the kind are links. */
export const ThingLinks = ({ names }: { names: readonly string[] }) => (
  <span>
    {names.map((each, index) => {
      const [kind = '', name = ''] = each.split('/');
      const screen = Object.hasOwn(screens, kind) ? screens[kind as keyof typeof screens] : undefined;
      return (
        <Fragment key={each}>
          {index > 0 && ', '}
          {screen ? <a href={toHash(`${screen}/${name}`)}>{each}</a> : <bdi>{each}</bdi>}
        </Fragment>
      );
    })}
  </span>
);
