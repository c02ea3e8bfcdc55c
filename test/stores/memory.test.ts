import { itemKind } from '../../src/features/items/routes.ts';
import { simpleTaskKind } from '../../src/features/simple-tasks/routes.ts';
import { openTaskStore } from '../../src/features/tasks/memory-store.ts';
import { keepInMemory, type OpenChanges } from '../../src/storage/changes.ts';
import { openEntryStore } from '../../src/storage/entries.ts';
import { createAsynchronousTaskStore } from './asynchronous.ts';
import { testItemStore, testSimpleTaskStore } from './list-stores.ts';
import { testTaskStore } from './task-store.ts';

const inMemory: OpenChanges = async (_name, state) => keepInMemory(state);

testTaskStore('memory', (_t, clock) => openTaskStore(clock, inMemory));
testItemStore('memory', () => openEntryStore(itemKind, inMemory));
testSimpleTaskStore('memory', () => openEntryStore(simpleTaskKind, inMemory));
testTaskStore('memory behind promises', (_t, clock) => createAsynchronousTaskStore(clock), 0.1);
