import { itemKind } from '../../src/features/items/routes.ts';
import { simpleTaskKind } from '../../src/features/simple-tasks/routes.ts';
import { openTaskStore } from '../../src/features/tasks/memory-store.ts';
import { openInMemory } from '../../src/storage/changes.ts';
import { openEntryStore } from '../../src/storage/entries.ts';
import { createAsynchronousTaskStore } from './asynchronous.ts';
import { testItemStore, testSimpleTaskStore } from './list-stores.ts';
import { testTaskStore } from './task-store.ts';

testTaskStore('memory', (_t, clock) => openTaskStore(clock, openInMemory));
testItemStore('memory', () => openEntryStore(itemKind, openInMemory));
testSimpleTaskStore('memory', () => openEntryStore(simpleTaskKind, openInMemory));
testTaskStore('memory behind promises', (_t, clock) => createAsynchronousTaskStore(clock), 0.1);
