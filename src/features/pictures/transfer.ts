import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer, RecordId } from '../../kit/feature.ts';
import { Milliseconds } from '../../kit/time.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { type PortableFile, SeenIds } from '../../storage/portable-store.ts';
import { toColumns } from '../../storage/postgres/batch.ts';
import { openTextFolder } from '../../storage/text-folder.ts';
import { pictureSuffix } from './picture-store.ts';
import { MachinePicture, maxPictureBytes } from './schema.ts';

const StoredPicture = Type.Object(
  { incident: RecordId, at: Milliseconds, picture: MachinePicture },
  { additionalProperties: false },
);

/** Exports and imports pictures, with the times at which they were taken. */
export const pictureTransfer = defineTransfer<PortableFile>({
  name: 'snapshots',
  lines: { pictures: StoredPicture },
  openFolder: openTextFolder,
  table: {
    name: 'incident_snapshot',
    // Pictures need no gate themselves, because they are imported together with the incidents.
    gate: 'projection',
    queries: [
      {
        text: 'SELECT incident, at, body FROM signalbox.incident_snapshot ORDER BY incident',
        toChange: ({ incident, at, body }) => ({ name: incident + pictureSuffix, at: Number(at), text: body }),
      },
    ],
    insert: (files) => {
      const rows = files.map(({ name, at, text }) => ({
        incident: name.slice(0, -pictureSuffix.length),
        at: Math.round(at),
        machine: (JSON.parse(text) as MachinePicture).hostname,
        body: text,
      }));
      return [
        {
          text: `INSERT INTO signalbox.incident_snapshot (incident, at, machine, body)
            SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[])`,
          values: toColumns(rows, 'incident', 'at', 'machine', 'body'),
        },
      ];
    },
  },
  toLine: ({ name, at, text }) => [
    'pictures',
    { incident: name.slice(0, -pictureSuffix.length), at, picture: parseJson(text) },
  ],
  createParser: () => {
    const seen = new SeenIds();
    return (_key, value) => {
      const { incident, at, picture } = value as Static<typeof StoredPicture>;
      if (!seen.add(incident)) throw new SettingsError(['pictures.incident was already used in an earlier line']);
      const text = JSON.stringify(picture);
      if (Buffer.byteLength(text) > maxPictureBytes) {
        throw new SettingsError([`pictures.picture must not exceed ${maxPictureBytes} bytes`]);
      }
      return { name: incident + pictureSuffix, at, text };
    };
  },
});
