import Type from 'typebox';

/** Setting for features that write links to this server. */
export const publicUrlSetting = {
  publicUrl: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'URL of this server for people, such as `https://signalbox.example.org`, for links in notifications that show and acknowledge incidents, and in emails of status pages.',
    }),
  ),
};

/** Returns the URL of a path below the base path of a mount. Without `publicUrl`, returns only the path. */
export const toPublicUrl = (publicUrl: string | undefined, base: string | undefined, path: string): string =>
  `${publicUrl?.replace(/\/+$/, '') ?? ''}${(base ?? '').replace(/\/+$/, '')}${path}`;
