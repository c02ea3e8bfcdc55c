/** Lines of an export. `lastId` takes the highest id that a task has had. */
export const header = '{"signalbox":"export","version":1}';
export const end = '{"signalbox":"end"}';
export const lastId = (id: number): string => `{"lastTaskId":${id}}`;
export const task = (Id: number, more = ''): string =>
  `{"tasks":{"Id":${Id},"Title":"t${Id}","Description":"","Priority":"Low","Status":"Pending","CreatedAt":"2026-01-31T09:30:00","version":1${more}}}`;
