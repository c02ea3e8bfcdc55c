import type { FileSystemKind, HostReadings } from '../../../../../host/readings.ts';
import type { CimInstance } from '../../../policy/cim-classes.ts';

/** Win32_LogicalDisk.DriveType. */
const driveTypes: Record<FileSystemKind, number> = { removable: 2, fixed: 3, network: 4, optical: 5, memory: 6 };

/** Every mounted file system that has a size. Sizes are in bytes; FreeSpace is available to ordinary users. */
export const readLogicalDisks = async (host: HostReadings): Promise<CimInstance<'Win32_LogicalDisk'>[]> => {
  const fileSystems = await host.fileSystems();
  return fileSystems.map((fileSystem) => ({
    DeviceID: fileSystem.mountPath,
    DriveType: driveTypes[fileSystem.kind],
    FileSystem: fileSystem.type,
    VolumeName: fileSystem.label,
    FreeSpace: fileSystem.availableBytes,
    Size: fileSystem.totalBytes,
  }));
};
