/** Goal: the oracle catches each mutant. Method: `mutants/caught.ts`. */
import { testMutants } from './mutants/caught.ts';

testMutants(0, 2);
