import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';

/** What scrolling costs in milliseconds; lists are longest first. */
interface Scrolling {
  /** Processor time of each task of the page's main thread: a frame's script, style, layout and paint are one. */
  work: number[];
  /** The same by the clock: on a busy machine the thread also waits for a processor. */
  clock: number[];
  /** Between frames: also what other threads draw, without a graphics card. */
  frames: number[];
  /** Sums of all frames on the main thread; style and layout that script asks for count twice. */
  parts: { script: number; style: number; layout: number; paint: number };
  /** Sum of what other threads drew. */
  raster: number;
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Start, duration by the clock, and processor time, in µs. */
  ts: number;
  dur?: number;
  tdur?: number;
}

const categories = ['-*', 'devtools.timeline', 'disabled-by-default-devtools.timeline'];
const frameCount = 200;

/** Scrolls by so many pixels in each of 200 frames, and far away in each twentieth, while Chromium is traced. */
export const measureScrolling = async (
  browser: Browser,
  page: Page,
  pixels = 240,
  far = 200_000,
): Promise<Scrolling> => {
  await browser.startTracing(page, { categories });
  const frames = await page.evaluate<number[]>(`new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('the page does not draw')), 60_000);
    const frames = [];
    let last = performance.now();
    const step = (at) => {
      frames.push(at - last);
      last = at;
      scrollBy(0, frames.length % 20 === 0 ? ${far} : ${pixels});
      if (frames.length < ${frameCount}) requestAnimationFrame(step);
      else resolve(frames.slice(2));
    };
    requestAnimationFrame(step);
  })`);
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const events = trace.traceEvents.filter(({ dur }) => dur !== undefined);
  const main = ofMainThread(events);
  const tasks = main.filter(({ name }) => name === 'RunTask');
  return {
    work: sortDown(tasks.map(({ tdur = 0 }) => tdur / 1000)),
    clock: sortDown(tasks.map(({ dur = 0 }) => dur / 1000)),
    frames: sortDown(frames),
    parts: {
      script: sum(main, 'FireAnimationFrame'),
      style: sum(main, 'UpdateLayoutTree'),
      layout: sum(main, 'Layout'),
      paint: sum(main, 'Paint'),
    },
    raster: sum(events, 'RasterTask'),
  };
};

/** The figures in words, for the output of a test. */
export const describeScrolling = ({ work, clock, frames, parts, raster }: Scrolling): string => {
  const total = work.reduce((sum, each) => sum + each, 0);
  const perFrame = Object.entries({ work: total, ...parts, raster }).map(
    ([name, ms]) => `${name} ${(ms / frameCount).toFixed(1)}`,
  );
  return [
    `processor time of the longest tasks ${list(work)} ms, by the clock ${list(clock)} ms`,
    `longest frames by the clock ${list(frames)} ms, half of them at most ${frames[frameCount >> 1]?.toFixed(0)} ms`,
    `on average ${perFrame.join(', ')} ms`,
  ].join('; ');
};

/** Megabytes that a page uses: its JavaScript heap, and on Linux the private memory of its whole process. */
export const measureMemory = async (browser: Browser, page: Page): Promise<{ heap: number; process: number }> => {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const processes = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  const pages = processes.processInfo.filter(({ type }) => type === 'renderer');
  return { heap: usedSize / 1e6, process: Math.max(...pages.map(({ id }) => readPrivate(id))) };
};

const readPrivate = (pid: number): number => {
  if (process.platform !== 'linux') return 0;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = ['RssAnon', 'VmSwap'].map((name) =>
    Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]),
  );
  return kilobytes.reduce((total, each) => total + (each * 1024) / 1e6, 0);
};

/** The thread that has rendered the frames. */
const ofMainThread = (events: TraceEvent[]): TraceEvent[] => {
  const frames: Record<string, number> = {};
  for (const event of events) {
    if (event.name === 'FireAnimationFrame') frames[toThread(event)] = (frames[toThread(event)] ?? 0) + 1;
  }
  const [[thread] = []] = Object.entries(frames).toSorted(([, a], [, b]) => b - a);
  return events.filter((event) => toThread(event) === thread);
};

const toThread = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;

const sortDown = (values: number[]): number[] => values.toSorted((a, b) => b - a);

const sum = (events: TraceEvent[], wanted: string): number =>
  events.reduce((total, { name, dur = 0 }) => total + (name === wanted ? dur / 1000 : 0), 0);

const list = (values: number[]): string =>
  values
    .slice(0, 3)
    .map((value) => value.toFixed(0))
    .join(', ');
