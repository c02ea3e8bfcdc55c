import { healthStatus } from '../live/status.ts';
import { type Screen, screenGroups } from '../screen.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { toTone } from '../ui/severity.tsx';
import { isMedium } from '../ui/virtual.ts';

/** Number of screens shown in the bar of narrow windows. The other screens are under “More”. */
const mostInBar = 4;
const inBar = ['/', '/incidents', '/alerts', '/tasks'];

/** Links to all screens, in a column, or in a bar at the bottom of narrow windows. */
export const Navigation = ({ screens: all, path }: { screens: Screen[]; path: string }) => {
  const screens = all.filter((screen) => screen.path === path || !screen.isEmpty?.());
  if (!isMedium.value) {
    return (
      <nav class="screens" aria-label={text.screens}>
        <Groups screens={screens} path={path} />
        <Reference />
      </nav>
    );
  }
  const bar = [...screens].sort((a, b) => toRank(a) - toRank(b)).slice(0, mostInBar);
  const others = screens.filter((screen) => !bar.includes(screen));
  const isOther = others.some((screen) => screen.path === path);
  return (
    <nav class="screens bar" aria-label={text.screens}>
      {bar.map((screen) => (
        <ScreenLink key={screen.path} screen={screen} path={path} look="bar-item" />
      ))}
      <button type="button" popovertarget="more-screens" class={`bar-item ${isOther ? 'current' : ''}`}>
        <Icon name="more" />
        <span>{text.more}</span>
      </button>
      <div id="more-screens" popover="auto" class="menu more-screens">
        <Groups screens={others} path={path} />
        <Reference />
      </div>
    </nav>
  );
};

/** Screens by group, with headings. */
const Groups = ({ screens, path }: { screens: Screen[]; path: string }) =>
  screenGroups.map((group) => {
    const found = screens.filter((screen) => screen.group === group);
    if (found.length === 0) return null;
    const links = found.map((screen) => <ScreenLink key={screen.path} screen={screen} path={path} />);
    if (group === 'start') return links;
    return (
      <div key={group}>
        <p class="group-name">{text.groups[group]}</p>
        {links}
      </div>
    );
  });

const toRank = ({ path }: Screen): number => inBar.indexOf(path) + 1 || inBar.length + 1;

const hide = (): void => document.getElementById('more-screens')?.hidePopover();

interface LinkProps {
  screen: Screen;
  /** Path of the current screen. */
  path: string;
  look?: string;
}

const ScreenLink = ({ screen: { path: own, icon, title }, path, look = 'screen-link' }: LinkProps) => (
  <a class={look} href={`#${own}`} aria-current={own === path ? 'page' : undefined} onClick={hide}>
    <Icon name={icon} />
    <span>{title}</span>
    <Attention path={own} />
  </a>
);

/** Paths of screens by area. Contains only areas that are not named after their screen. */
const places: Record<string, string> = { deliveries: '/notifications', host: '/watches' };

/** Dot next to the navigation entry of a screen with details about an open problem. */
const Attention = ({ path }: { path: string }) => {
  const problem = healthStatus.value.value?.problems.find(({ area }) => (places[area] ?? `/${area}`) === path);
  if (!problem) return null;
  return (
    <span class={`attention tone-${toTone(problem.severity)}`} title={problem.text}>
      <span class="unseen">{problem.text}</span>
    </span>
  );
};

const Reference = () => (
  <a class="screen-link outward" href="../docs/">
    <Icon name="reference" />
    <span>{text.reference}</span>
  </a>
);
