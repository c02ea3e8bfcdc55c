import type names from './icons.json';

/** Name of an icon. icons.json maps these names to Lucide icons. */
export type IconName = keyof typeof names;

/** Outlines of the used icons, extracted from Lucide by vite.config.mjs. */
declare const ICONS: Record<IconName, string>;

/** Decorative icon, hidden from screen readers. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg
    class="icon"
    viewBox="0 0 24 24"
    aria-hidden="true"
    focusable="false"
    dangerouslySetInnerHTML={{ __html: ICONS[name] }}
  />
);
