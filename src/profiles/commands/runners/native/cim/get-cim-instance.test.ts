import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeProgram } from '../../../../../../test/support/child-programs.ts';
import { run } from '../../../../../../test/support/native-commands.ts';
import { systemctlScript } from '../../../../../../test/support/recorded.ts';
import { type CimClassName, cimClasses, cimClassNames } from '../../../policy/cim-classes.ts';

test('every instance of every class has exactly the properties of its class', async (t) => {
  const systemctl = [writeProgram(t, 'systemctl', systemctlScript)];
  for (const name of cimClassNames) {
    const rows = await run(name, systemctl);
    assert.notEqual(rows.length, 0, name);
    for (const row of rows) assert.deepEqual(Object.keys(row), cimClasses[name].properties, name);
  }
});

test('Win32_Service shows the recorded services of systemd', async (t) => {
  const systemctl = [writeProgram(t, 'systemctl', systemctlScript)];
  const rows = await run('Win32_Service -Filter \'Name LIKE "%s"\' -Property Name,State,StartMode,Status', systemctl);
  assert.deepEqual(rows, [{ Name: 'fails', State: 'Stopped', StartMode: 'Manual', Status: 'Error' }]);
  const [demo = {}] = await run('Win32_Service -Filter "Name = \'demo\'"', systemctl);
  assert.deepEqual([demo['StartName'], demo['ProcessId'], demo['Started']], ['demo', 23, true]);
  const [many = {}] = await run('Win32_Service -Filter "Name = \'many@1\'"', systemctl);
  assert.deepEqual([many['State'], many['StartMode'], many['ProcessId']], ['Start Pending', null, 28]);
});

test('-Property returns only those properties, in the order of the class, and -KeyOnly the keys', async () => {
  const [row = {}] = await run('Win32_ComputerSystem -Property Model,name');
  assert.deepEqual(Object.keys(row), ['Name', 'Model']);
  for (const name of cimClassNames.filter((each): each is CimClassName => each !== 'Win32_Service')) {
    const [keys = {}] = await run(`${name} -KeyOnly`);
    assert.deepEqual(Object.keys(keys), cimClasses[name].keys);
  }
});
