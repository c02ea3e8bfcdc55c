import { createMemoryItemStore } from '../../src/profiles/items/store.ts';
import { createMemorySimpleTaskStore } from '../../src/profiles/simple-tasks/store.ts';
import { createMemoryTaskStore } from '../../src/profiles/tasks/memory-store.ts';
import { createAsynchronousTaskStore } from './asynchronous.ts';
import { testItemStore, testSimpleTaskStore } from './list-stores.ts';
import { testTaskStore } from './task-store.ts';

testTaskStore('memory', (_t, clock) => createMemoryTaskStore(clock));
testItemStore('memory', () => createMemoryItemStore());
testSimpleTaskStore('memory', () => createMemorySimpleTaskStore());
testTaskStore('memory behind promises', (_t, clock) => createAsynchronousTaskStore(clock), 0.1);
