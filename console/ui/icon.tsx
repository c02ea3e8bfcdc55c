import type names from './icons.json';

/** What an icon stands for; icons.json says which of Lucide's it is. */
export type IconName = keyof typeof names;

/** The outlines of these icons, and of no others: vite.config.mjs takes them from Lucide. */
declare const ICONS: Record<IconName, string>;

/** A decoration: the words beside it say the same. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg
    class="icon"
    viewBox="0 0 24 24"
    aria-hidden="true"
    focusable="false"
    dangerouslySetInnerHTML={{ __html: ICONS[name] }}
  />
);
