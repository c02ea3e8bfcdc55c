import { toBytes, toPercent } from '../format.ts';
import { text } from '../strings/index.ts';

const words = text.overview;

interface Disk {
  mountPath: string;
  /** Bytes. */
  used: number;
  total: number;
  /** Bytes per second, if known. */
  read?: number | null;
  written?: number | null;
}

/** Disks with their usage and transfer rates. */
export const DiskList = ({ disks }: { disks: readonly Disk[] }) => (
  <ul class="disks">
    {disks.map((disk) => (
      <DiskBar key={disk.mountPath} {...disk} />
    ))}
  </ul>
);

const DiskBar = ({ mountPath, used, total, read = null, written = null }: Disk) => {
  const share = (used / total) * 100;
  return (
    <li>
      <span class="mono one-line">{mountPath}</span>
      <span class="hint">{words.diskFree(toBytes(total - used), toBytes(total))}</span>
      <meter
        min="0"
        max="100"
        high={90}
        value={share}
        aria-label={`${mountPath}: ${words.diskFull(toPercent(share))}`}
      />
      <b>{words.diskFull(toPercent(share))}</b>
      {read !== null && written !== null && (
        <span class="hint traffic">{words.diskTraffic(`${toBytes(read)}/s`, `${toBytes(written)}/s`)}</span>
      )}
    </li>
  );
};
