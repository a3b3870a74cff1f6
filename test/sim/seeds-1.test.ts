/** Goal: no seed breaks a rule. Method: `shard.ts`. */
import { testShard } from './shard.ts';

testShard(1);
