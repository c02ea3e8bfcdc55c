/**
 * Loaded before the server: its clock runs four times as fast until it has caught up with the real one, so that two and a
 * half minutes fill the charts of ten.
 */
const speed = 4;
const RealDate = Date;
const started = RealDate.now();
const begin = started - (speed - 1) * 150_000;

globalThis.Date = class extends RealDate {
  static now() {
    const real = RealDate.now();
    return Math.min(real, begin + speed * (real - started));
  }

  constructor(...args) {
    super(...(args.length > 0 ? args : [globalThis.Date.now()]));
  }
};
