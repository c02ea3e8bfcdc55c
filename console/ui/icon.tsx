/** Outlines on a grid of 24 by 24, drawn in the colour of the text. */
const paths = {
  overview: 'M3 13h4l3-8 4 14 3-6h4',
  processes: 'M4 6h16M4 12h16M4 18h10',
  tasks: 'M9 6h11M9 12h11M9 18h11M3.5 6l1 1 2-2M3.5 12l1 1 2-2M3.5 18l1 1 2-2',
  alerts: 'M6 9a6 6 0 0 1 12 0c0 6 2.5 7 2.5 7h-17S6 15 6 9M10 20a2 2 0 0 0 4 0',
  commands: 'M4 6l6 6-6 6M12 18h8',
  audit: 'M12 3l8 3v6c0 4.5-3.2 7.6-8 9-4.8-1.4-8-4.5-8-9V6zM8.5 12l2.5 2.5 4.5-5',
  deliveries: 'M21 3L10 14M21 3l-7 18-4-7-7-4z',
  items: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  instances: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  reference: 'M5 4h10a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3.5 2',
  auto: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  dark: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4.5 21a7.5 7.5 0 0 1 15 0',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  back: 'M14 6l-6 6 6 6',
  repeat: 'M4 11a7 7 0 0 1 12-4l3 3M19 5v5h-5M20 13a7 7 0 0 1-12 4l-3-3M5 19v-5h5',
  pin: 'M9 3h6l-1 7 4 4H6l4-4zM12 14v7',
  check: 'M5 13l4 4L19 7',
  download: 'M12 4v11M7 10l5 5 5-5M5 20h14',
  play: 'M7 5l12 7-12 7z',
  plus: 'M12 5v14M5 12h14',
  move: 'M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  firing: 'M12 3c1 4 5 6 5 11a5 5 0 0 1-10 0c0-2 1-3.500 2-4.500 0 2 1 3 2 3 1.500-2 0-6 1-9.500',
  more: 'M4 6h16M4 12h16M4 18h16',
  critical: 'M8 3h8l5 5v8l-5 5H8l-5-5V8zM12 7.5v5.5M12 16.5h.01',
  error: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M9 9l6 6M15 9l-6 6',
  warning: 'M12 4l9.5 16.5h-19zM12 10v5M12 17.8h.01',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v5.5M12 7.5h.01',
  other: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6',
} as const;

export type IconName = keyof typeof paths;

/** A decoration: the words beside it say the same. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);
