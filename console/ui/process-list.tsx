import { toBytes, toPercent } from '../format.ts';
import { text } from '../strings/index.ts';

const words = text.overview;

/** Process in a short list. */
export interface ListedProcess {
  name: string;
  pid: number;
  memoryBytes: number;
  /** CPU usage, where 1 is a full CPU. Null if unknown. */
  cpu: number | null;
}

/** Short list of processes with their usage. */
export const ProcessList = ({ processes, label }: { processes: readonly ListedProcess[]; label?: string }) => (
  <table class="plain" aria-label={label}>
    <thead>
      <tr>
        <th scope="col">{words.process}</th>
        <th scope="col" class="end pid">
          {words.pid}
        </th>
        <th scope="col" class="end reading-column">
          {words.memoryColumn}
        </th>
        <th scope="col" class="end reading-column">
          {words.cpu}
        </th>
      </tr>
    </thead>
    <tbody>
      {processes.map(({ name, pid, memoryBytes, cpu }) => (
        <tr key={pid}>
          <td title={name}>
            <bdi>{name}</bdi>
          </td>
          <td class="end">{pid}</td>
          <td class="end">{toBytes(memoryBytes)}</td>
          <td class="end">{cpu === null ? '–' : toPercent(cpu * 100)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
